package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const generatedFile = "../../internal/core/heap/sizeclass_table.go"

// TestGeneratedFileIsUpToDate runs the generator as go generate does.
func TestGeneratedFileIsUpToDate(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "table.go")
	if output, err := exec.Command("go", "run", ".", "-o", fresh).CombinedOutput(); err != nil {
		t.Fatalf("the generator failed: %v\n%s", err, output)
	}
	want, err := os.ReadFile(fresh)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(generatedFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, have) {
		t.Errorf("%s is not what the generator writes: run go generate ./internal/core/heap", generatedFile)
	}
}

func TestTheGeneratorSaysWhereItCannotWrite(t *testing.T) {
	output, err := exec.Command("go", "run", ".", "-o", filepath.Join(t.TempDir(), "none", "table.go")).CombinedOutput()
	if err == nil || !bytes.Contains(output, []byte("sizeclasses: open ")) {
		t.Errorf("writing into a folder that is not there: %v\n%s", err, output)
	}
}

// table is the generated file as the compiler sees it.
type table struct {
	text    string
	numbers map[string]uint64   // constants
	arrays  map[string][]uint64 // of numbers
	classes []map[string]uint64 // classTable
}

func readTable(t *testing.T) table {
	t.Helper()
	text, err := os.ReadFile(generatedFile)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, generatedFile, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	pkg, err := new(types.Config).Check("heap", files, []*ast.File{file}, &info)
	if err != nil {
		t.Fatal(err)
	}
	result := table{text: string(text), numbers: map[string]uint64{}, arrays: map[string][]uint64{}}
	for _, name := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok {
			result.numbers[name], _ = constant.Uint64Val(c.Val())
		}
	}
	number := func(e ast.Expr) uint64 {
		n, _ := constant.Uint64Val(info.Types[e].Value)
		return n
	}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		literal, ok := v.Values[0].(*ast.CompositeLit)
		if !ok {
			return true
		}
		array := make([]uint64, info.Types[literal].Type.(*types.Array).Len())
		index := uint64(0)
		for _, element := range literal.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				index, element = number(pair.Key), pair.Value
			}
			if fields, ok := element.(*ast.CompositeLit); ok {
				class := map[string]uint64{"class": index}
				of := info.Types[element].Type.Underlying().(*types.Struct)
				for i, value := range fields.Elts {
					class[of.Field(i).Name()] = number(value)
				}
				result.classes = append(result.classes, class)
			} else {
				array[index] = number(element)
			}
			index++
		}
		result.arrays[v.Names[0].Name] = array
		return true
	})
	return result
}

// TestClassesAreTheOnesPromised counts them out: multiples of 16 up to 128, then four steps a doubling up to 32 KiB.
func TestClassesAreTheOnesPromised(t *testing.T) {
	want := []uint64{16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280,
		1536, 1792, 2048, 2560, 3072, 3584, 4096, 5120, 6144, 7168, 8192, 10240, 12288, 14336, 16384, 20480, 24576, 28672,
		32768}
	generated := readTable(t)
	if len(generated.classes) != len(want) || generated.numbers["ClassCount"] != uint64(len(want)) {
		t.Fatalf("%d classes, ClassCount %d; want %d", len(generated.classes), generated.numbers["ClassCount"], len(want))
	}
	for i, c := range generated.classes {
		span := uint64(64 << 10)
		if want[i] > 2048 {
			span = 256 << 10
		}
		if c["class"] != uint64(i+1) || c["bytes"] != want[i] || c["spanBytes"] != span ||
			c["blocks"] != span/want[i] {
			t.Errorf("class %d: %v; want %d bytes from spans of %d", i+1, c, want[i], span)
		}
	}
	if generated.numbers["TinyMaxBytes"] != 2048 || generated.numbers["SmallMaxBytes"] != 32768 {
		t.Errorf("the tiers end at %d and %d", generated.numbers["TinyMaxBytes"], generated.numbers["SmallMaxBytes"])
	}
}

// TestConstantsDivideEveryOffset tries every offset of every span, with the 32-bit constant of the slow paths and
// the 64-bit one that a cache's bins have (ceil(2^64/bytes), see bin.isStart).
func TestConstantsDivideEveryOffset(t *testing.T) {
	generated := readTable(t)
	bound := generated.numbers["smallSpanBytes"]
	for _, c := range generated.classes {
		magic, bytes := c["magic"], c["bytes"]
		wide := ^uint64(0)/bytes + 1
		for offset := uint64(0); offset < c["spanBytes"]; offset++ {
			if offset*magic>>32 != offset/bytes {
				t.Fatalf("class %d: offset %d is said to be in block %d", bytes, offset, offset*magic>>32)
			}
			multiple := offset%bytes == 0
			if (uint64(uint32(offset*magic)) < magic) != multiple {
				t.Fatalf("class %d: the slow path takes offset %d for the start of a block, or not for one", bytes, offset)
			}
			if (offset*wide < bound) != multiple {
				t.Fatalf("class %d: the fast path takes offset %d for the start of a block, or not for one", bytes, offset)
			}
		}
		if magic > 1<<32-1 {
			t.Errorf("class %d: the constant %d does not fit 32 bits", bytes, magic)
		}
	}
}

// TestEverySizeHasItsClass asks the generated tables as the fast paths do.
func TestEverySizeHasItsClass(t *testing.T) {
	generated := readTable(t)
	binOfUnits, classOfBin := generated.arrays["binOfUnits"], generated.arrays["classOfBin"]
	for size := uint64(0); size <= 32768; size++ {
		bin := binOfUnits[(size+15)/16]
		class := classOfBin[bin/generated.numbers["binBytes"]]
		if class == 0 {
			t.Fatalf("size %d has no class", size)
		}
		fits := generated.classes[class-1]["bytes"]
		if fits < size || class > 1 && generated.classes[class-2]["bytes"] >= size {
			t.Fatalf("size %d has the class of %d bytes, which is not the smallest that holds it", size, fits)
		}
		if generated.classes[class-1]["binOffset"] != bin {
			t.Fatalf("size %d leads to the bin at %d, but its class has the one at %d", size, bin,
				generated.classes[class-1]["binOffset"])
		}
	}
	if bits.OnesCount(uint(len(classOfBin))) != 1 {
		t.Errorf("the table of bins has %d entries: a masked index needs a power of two", len(classOfBin))
	}
	if classOfBin[0] != 0 {
		t.Errorf("the bin at offset 0, which means no class, has class %d", classOfBin[0])
	}
}

// TestBinsOfACacheDoNotOverlap lays a cache out: bins, each with its slots behind it, then the header.
func TestBinsOfACacheDoNotOverlap(t *testing.T) {
	generated := readTable(t)
	line := generated.numbers["binBytes"]
	end := line // what the bin of no class takes
	for _, c := range generated.classes {
		if c["binOffset"] < end || c["binOffset"]%line != 0 || c["binOffset"] > 1<<16-1 {
			t.Errorf("the bin of class %d lies at %d, the one before ends at %d", c["bytes"], c["binOffset"], end)
		}
		end = c["binOffset"] + line + (c["room"]+1)*8
		if c["batch"] > generated.numbers["batchMost"] || c["batch"] < 1 || c["room"] < 2*c["batch"]-1 {
			t.Errorf("class %d: batches of %d do not suit %d slots", c["bytes"], c["batch"], c["room"])
		}
		if c["depot"] < 1 || c["depot"]*c["batch"]*8 > 64<<10 {
			t.Errorf("class %d: %d batches of %d addresses do not fit one piece of table memory", c["bytes"], c["depot"],
				c["batch"])
		}
		if held := c["depot"] * c["batch"] * c["bytes"]; held > 2<<20 {
			t.Errorf("class %d: the shared pool may hold %d bytes", c["bytes"], held)
		}
	}
	header, all := generated.numbers["cacheHeaderOffset"], generated.numbers["cacheBytes"]
	if header < end || header%line != 0 || all < header+64 || all > 64<<10 {
		t.Errorf("bins end at %d, the header lies at %d of %d bytes", end, header, all)
	}
	if most := generated.numbers["batchMost"]; bits.OnesCount64(most) != 1 {
		t.Errorf("batchMost is %d: a masked index needs a power of two", most)
	}
}

// TestWasteTableTellsTheTruth computes each line of the comment at the top of the file.
func TestWasteTableTellsTheTruth(t *testing.T) {
	generated := readTable(t)
	before := uint64(0)
	for i, c := range generated.classes {
		worst := 100 * float64(c["bytes"]-before-1) / float64(c["bytes"])
		want := fmt.Sprintf("// %d %d %d %d %d %.2f %% %d", i+1, c["bytes"], c["spanBytes"], c["blocks"],
			c["spanBytes"]-c["blocks"]*c["bytes"], worst, c["batch"])
		found := false
		for line := range strings.Lines(generated.text) {
			found = found || strings.Join(strings.Fields(line), " ") == want
		}
		if !found {
			t.Errorf("no line of the table says %q", want)
		}
		if c["bytes"] > 128 && worst > 20 {
			t.Errorf("class %d loses %.2f %% to rounding; the design says at most 20", c["bytes"], worst)
		}
		before = c["bytes"]
	}
}
