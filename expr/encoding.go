package expr

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"runnel/types"
)

// encodingFunctions write values in other alphabets.
func encodingFunctions() []Function {
	number := giveKind(types.Int)
	return append(hashFunctions(), []Function{
		{Name: "HEX", Doc: "HEX(a): an integer, or the bytes of a text, in hexadecimal.", safe: true, forms: "'HEX(<INTEGER>)'", bind: bindHex,
			kernel: hexKernel},
		{Name: "UNHEX", Doc: "UNHEX(text): the bytes written in hexadecimal; NULL for anything else.", safe: true,
			bind: takes("CHARACTER").toMaybe(give(types.Bytes())), kernel: rows1(unhex)},
		{Name: "BIN", Doc: "BIN(n): an integer in binary.", safe: true, bind: takes("INTEGER").to(giveText),
			kernel: pure1(func(n int64) string { return strconv.FormatUint(uint64(n), 2) })},
		{Name: "ASCII", Doc: "ASCII(text): the first byte, signed; 0 for an empty text.", safe: true, bind: takes("CHARACTER").to(number),
			kernel: pure1(func(s string) int64 {
				if s == "" {
					return 0
				}
				return int64(int8(s[0]))
			})},
		{Name: "CHR", Doc: "CHR(n): the character with the code n modulo 256; empty for a negative n.", safe: true,
			bind: takes("INTEGER").toMaybe(giveText), kernel: pure1(func(n int64) string {
				if n < 0 {
					return ""
				}
				return string(rune(n & 255))
			})},
		{Name: "TO_BASE64", Doc: "TO_BASE64(text): in base 64.", safe: true, bind: takes("STRING").to(giveText),
			kernel: arenaPure1(func(a *types.Arena, s string) string {
				return a.Take(base64.StdEncoding.AppendEncode(a.Buf(), []byte(s)))
			})},
		{Name: "FROM_BASE64", Doc: "FROM_BASE64(text): the text written in base 64.", bind: takes("STRING").to(giveText),
			kernel: rows1(fromBase64)},
		{Name: "ENCODE", Doc: "ENCODE(text, charset): the bytes of the text; charsets are US-ASCII, ISO-8859-1, UTF-8, UTF-16BE, UTF-16LE, UTF-16.",
			bind: takes("CHARACTER, CHARACTER").toMaybe(give(types.Of(types.Binary))), kernel: rows2(encodeText)},
		{Name: "DECODE", Doc: "DECODE(bytes, charset): the text of the bytes.", bind: takes("BINARY, CHARACTER").toMaybe(giveText),
			kernel: rows2(decodeText)},
	}...)
}

// hashFunctions give digests in hexadecimal.
func hashFunctions() []Function {
	sum := func(name string, size int, f func(dst []byte, s []byte) []byte) Function {
		return Function{Name: name, Doc: name + "(text): its digest in hexadecimal.", safe: true,
			bind: takes("STRING").to(give(types.CharOf(size))), kernel: arenaPure1(func(a *types.Arena, s string) string {
				return a.Take(f(a.Buf(), unsafe.Slice(unsafe.StringData(s), len(s))))
			})}
	}
	return []Function{
		sum("MD5", 32, func(dst, b []byte) []byte { h := md5.Sum(b); return hex.AppendEncode(dst, h[:]) }),
		sum("SHA1", 40, func(dst, b []byte) []byte { h := sha1.Sum(b); return hex.AppendEncode(dst, h[:]) }),
		sum("SHA224", 56, func(dst, b []byte) []byte { h := sha256.Sum224(b); return hex.AppendEncode(dst, h[:]) }),
		sum("SHA256", 64, func(dst, b []byte) []byte { h := sha256.Sum256(b); return hex.AppendEncode(dst, h[:]) }),
		sum("SHA384", 96, func(dst, b []byte) []byte { h := sha512.Sum384(b); return hex.AppendEncode(dst, h[:]) }),
		sum("SHA512", 128, func(dst, b []byte) []byte { h := sha512.Sum512(b); return hex.AppendEncode(dst, h[:]) }),
		{Name: "SHA2", Doc: "SHA2(text, bits): the digest of 224, 256, 384 or 512 bits in hexadecimal.", forms: "'SHA2(DATA, HASH_LENGTH)'",
			bind: bindSHA2, kernel: rows2(sha2)},
	}
}

var errAlgorithm = errors.New("Unsupported algorithm.")

func bindSHA2(b *binding) (types.Type, error) {
	t, err := takes("STRING, INTEGER").to(give(types.VarcharOf(128)))(b)
	if err != nil {
		return t, err
	}
	if k, ok := constOf(b.args[1]); ok && !k.Null {
		if _, err := sha2("", k.I); err != nil {
			return t, b.errorf("%v", err)
		}
	}
	return t, nil
}

func sha2(s string, size int64) (string, error) {
	b := []byte(s)
	switch size {
	case 224:
		h := sha256.Sum224(b)
		return hex.EncodeToString(h[:]), nil
	case 256:
		h := sha256.Sum256(b)
		return hex.EncodeToString(h[:]), nil
	case 384:
		h := sha512.Sum384(b)
		return hex.EncodeToString(h[:]), nil
	case 512:
		h := sha512.Sum512(b)
		return hex.EncodeToString(h[:]), nil
	}
	return "", errAlgorithm
}

func bindHex(b *binding) (types.Type, error) {
	if len(b.args) != 1 {
		return types.Type{}, b.wrongCount(1)
	}
	t := b.args[0].Type()
	if !t.IsInteger() && !t.IsString() {
		return types.Type{}, b.misfit()
	}
	return types.String().Nullable(!t.NotNull), nil
}

const upperHex = "0123456789ABCDEF"

func hexKernel(c *compiler, call *Call) (Eval, error) {
	arena := &types.Arena{}
	if call.Args[0].Type().IsInteger() {
		return pure1(func(n int64) string {
			digits := max(1, (bits.Len64(uint64(n))+3)/4)
			buf := arena.Buf()
			for k := digits - 1; k >= 0; k-- {
				buf = append(buf, upperHex[uint64(n)>>(4*k)&15])
			}
			return arena.Take(buf)
		})(c, call)
	}
	return pure1(func(s string) string {
		buf := arena.Buf()
		for i := range len(s) {
			buf = append(buf, upperHex[s[i]>>4], upperHex[s[i]&15])
		}
		return arena.Take(buf)
	})(c, call)
}

// unhex makes a byte of its own of the first digit of an odd number.
func unhex(s string) (string, error) {
	if len(s)%2 == 1 {
		s = "0" + s
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return "", errNull
	}
	return string(b), nil
}

func fromBase64(s string) (string, error) {
	enc := base64.StdEncoding
	if !strings.HasSuffix(s, "=") && len(s)%4 != 0 {
		enc = base64.RawStdEncoding
	}
	if at := strings.IndexAny(s, "\r\n"); at >= 0 { // which package base64 passes over
		return "", fmt.Errorf("Illegal base64 character %x", s[at])
	}
	b, err := enc.DecodeString(s)
	if err != nil {
		var at base64.CorruptInputError
		if errors.As(err, &at) && int(at) < len(s) {
			return "", fmt.Errorf("Illegal base64 character %x", s[at])
		}
		return "", errors.New("Input byte array has wrong 4-byte ending unit")
	}
	return string(types.AppendUTF8(nil, string(b))), nil
}

// charset is one of the encodings that every Java has.
type charset uint8

const (
	usASCII charset = iota + 1
	latin1
	utf8Set
	utf16BE
	utf16LE
	utf16BOM
)

func charsetOf(name string) (charset, error) {
	switch strings.ToUpper(name) {
	case "US-ASCII", "ASCII":
		return usASCII, nil
	case "ISO-8859-1", "ISO8859_1", "LATIN1":
		return latin1, nil
	case "UTF-8", "UTF8":
		return utf8Set, nil
	case "UTF-16BE":
		return utf16BE, nil
	case "UTF-16LE":
		return utf16LE, nil
	case "UTF-16", "UTF_16", "UTF16":
		return utf16BOM, nil
	}
	return 0, fmt.Errorf("unsupported encoding: %s", name)
}

func encodeText(s, name string) (string, error) {
	set, err := charsetOf(name)
	if err != nil {
		return "", err
	}
	switch set {
	case utf8Set:
		return s, nil
	case usASCII, latin1:
		limit := rune(0x7f)
		if set == latin1 {
			limit = 0xff
		}
		b := make([]byte, 0, len(s))
		for _, r := range s {
			if r > limit {
				r = '?'
			}
			b = append(b, byte(r))
		}
		return string(b), nil
	}
	var b []byte
	if set == utf16BOM {
		b = append(b, 0xfe, 0xff)
	}
	for _, u := range utf16.Encode([]rune(s)) {
		if set == utf16LE {
			b = append(b, byte(u), byte(u>>8))
		} else {
			b = append(b, byte(u>>8), byte(u))
		}
	}
	return string(b), nil
}

func decodeText(s, name string) (string, error) {
	set, err := charsetOf(name)
	if err != nil {
		return "", err
	}
	switch set {
	case utf8Set:
		return string(types.AppendUTF8(nil, s)), nil
	case usASCII, latin1:
		var b strings.Builder
		for i := range len(s) {
			r := rune(s[i])
			if r > 0x7f && set == usASCII {
				r = utf8.RuneError
			}
			b.WriteRune(r)
		}
		return b.String(), nil
	}
	little := set == utf16LE
	if set == utf16BOM && len(s) >= 2 {
		if s[0] == 0xff && s[1] == 0xfe {
			little = true
		}
		if s[0] == 0xff && s[1] == 0xfe || s[0] == 0xfe && s[1] == 0xff {
			s = s[2:]
		}
	}
	var us []uint16
	for i := 0; i+1 < len(s); i += 2 {
		if little {
			us = append(us, uint16(s[i])|uint16(s[i+1])<<8)
		} else {
			us = append(us, uint16(s[i])<<8|uint16(s[i+1]))
		}
	}
	text := string(utf16.Decode(us))
	if len(s)%2 == 1 {
		text += string(utf8.RuneError)
	}
	return text, nil
}
