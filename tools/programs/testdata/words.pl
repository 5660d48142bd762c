# Hashes, strings, regular expressions, closures, files, children and interpreter threads.
# usage: words.pl SIZE
use strict;
use warnings;
use threads;
use threads::shared;
use Digest::MD5 qw(md5_hex);
use List::Util qw(sum max reduce);
use Storable qw(dclone freeze thaw);

$| = 1;
my $size = shift // 20000;

# A sequence of numbers that is the same everywhere.
my $state = 12345;
sub number { $state = ($state * 1103515245 + 12345) % 2147483648; return $state >> 4 }
sub word { my $n = shift; return join '', map { chr(97 + ($n >> (3 * $_)) % 26) } 0 .. $n % 9 }

my (%count, %place);
for my $i (1 .. $size) {
    my $word = word(number());
    $count{$word}++;
    push @{ $place{ substr $word, 0, 1 } }, $i;
}
print "words: ", scalar(keys %count), " ", md5_hex(join ',', map {"$_=$count{$_}"} sort keys %count), "\n";
print "places: ", join(' ', map { "$_:" . scalar @{ $place{$_} } } sort keys %place), "\n";

my $text = join ' ', map { word(number()) } 1 .. $size;
my $changed = ($text =~ s/([aeiou])([^aeiou ]+)/uc($1) . reverse $2/ge);
my @long = $text =~ /\b(\w{8,})\b/g;
print "text: $changed ", scalar(@long), " ", md5_hex($text), "\n";

my @makers = map { my $k = $_; sub { my $s = $k; $s .= $k x ($_[0] % 50); length $s } } 1 .. 100;
print "closures: ", sum(map { $makers[$_ % 100]->($_) } 1 .. $size), "\n";

my $tree = { map { $_ => [ map { { name => word($_), rest => [ 1 .. $_ % 5 ] } } 1 .. 20 ] } 1 .. 200 };
my $copy = thaw(freeze(dclone($tree)));
$tree = undef;
print "tree: ", sum(map { map { scalar @{ $_->{rest} } } @$_ } values %$copy), "\n";

my $grown = '';
$grown .= chr(65 + $_ % 26) x ($_ % 7) for 1 .. $size;
substr($grown, $_ * 11 % 1000, 3, '') for 1 .. 200;
print "grown: ", length $grown, " ", md5_hex($grown), "\n";
my @records = map { pack 'NnA*', $_, $_ % 65536, word($_) } 1 .. $size;
my $packed = md5_hex(join '', sort { unpack('x4n', $a) <=> unpack('x4n', $b) || $a cmp $b } @records);
print "records: $packed\n";

for my $round (1 .. 5) {
    my $survived = eval { my @all = map { "x" x 1000 } 1 .. 100; die { round => $round, all => \@all }; 1 };
    print "caught: $@->{round} ", scalar @{ $@->{all} }, "\n" unless $survived;
}

# Children: each inherits the whole heap, changes it and answers through a pipe.
for my $child (1 .. 4) {
    pipe my $reader, my $writer or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        close $reader;
        $count{"$child$_"} = $_ for 1 .. 1000;
        delete $count{$_} for grep { length > 5 } keys %count;
        print $writer scalar(keys %count), "\n";
        close $writer;
        exit 0;
    }
    close $writer;
    my $answer = <$reader>;
    waitpid $pid, 0;
    die "child $child ended with $?" if $?;
    print "child $child: $answer";
}

# Threads: each clones the interpreter with all its data.
my %answers : shared;
my @threads = map {
    my $k = $_;
    threads->create(sub {
        my %mine = map { $_ => word($_ * $k) } 1 .. $size / 10;
        my $digest = md5_hex(join ',', map { $mine{$_} } sort { $a <=> $b } keys %mine);
        lock %answers;
        $answers{$k} = $digest;
    });
} 1 .. 4;
$_->join for @threads;
print "thread $_: $answers{$_}\n" for sort keys %answers;
print "done\n";
