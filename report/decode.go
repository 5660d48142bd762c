package report

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// decode.go: what stands between the file and the lines: compression and character encoding.

// zstdMemoryMax bounds what a crafted archive can make the decoder allocate.
const zstdMemoryMax = 32 << 20

// openText returns the text behind r: gzip and zstd archives are unpacked, UTF-16 (what a
// PowerShell redirection writes) becomes UTF-8, a byte order mark is dropped.
func openText(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	head, err := buffered.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("cannot read: %w", err)
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("the file starts like a gzip archive but is none: %w", err)
		}
		return openPlain(unpacked)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		unpacked, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxMemory(zstdMemoryMax), zstd.WithDecoderMaxWindow(zstdMemoryMax/4))
		if err != nil {
			return nil, fmt.Errorf("the file starts like a zstd archive but is none: %w", err)
		}
		return openPlain(unpacked)
	}
	return openPlain(buffered)
}

// openPlain looks at the first bytes of the text itself.
func openPlain(r io.Reader) (io.Reader, error) {
	buffered, ok := r.(*bufio.Reader)
	if !ok {
		buffered = bufio.NewReaderSize(r, 64<<10)
	}
	head, err := buffered.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("cannot unpack: %w", err)
	}
	switch {
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		_, err = buffered.Discard(3)
		return buffered, err
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return fromUTF16(buffered, unicode.LittleEndian), nil
	case len(head) == 4 && head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0:
		return fromUTF16(buffered, unicode.LittleEndian), nil
	case len(head) == 4 && head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0:
		return fromUTF16(buffered, unicode.BigEndian), nil
	}
	return buffered, nil
}

// fromUTF16 obeys a byte order mark and takes the given order without one.
func fromUTF16(r io.Reader, order unicode.Endianness) io.Reader {
	fallback := unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder()
	return transform.NewReader(r, unicode.BOMOverride(fallback))
}
