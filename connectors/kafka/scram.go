package kafka

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"hash"
	"strconv"
	"strings"
)

// scram is the client side of SCRAM (RFC 5802, RFC 7677) without channel binding: one exchange.
type scram struct {
	wide      bool // SHA-512
	user, pwd string
	nonce     string
	first     string // client-first-message-bare
	expect    string // the server's signature
	step      int
}

func (s *scram) hash() hash.Hash {
	if s.wide {
		return sha512.New()
	}
	return sha256.New()
}

// Begin starts the exchange. It is sarama's SCRAMClient, as Step and Done are.
func (s *scram) Begin(user, password, authzID string) error {
	raw := make([]byte, 18)
	rand.Read(raw)
	s.user, s.pwd, s.nonce = user, password, base64.RawStdEncoding.EncodeToString(raw)
	return nil
}

// Step answers a challenge.
func (s *scram) Step(challenge string) (string, error) {
	s.step++
	switch s.step {
	case 1:
		s.first = "n=" + strings.NewReplacer("=", "=3D", ",", "=2C").Replace(s.user) + ",r=" + s.nonce
		return "n,," + s.first, nil
	case 2:
		return s.proof(challenge)
	default:
		if v, ok := strings.CutPrefix(challenge, "v="); !ok || subtle.ConstantTimeCompare([]byte(v), []byte(s.expect)) == 0 {
			return "", fmt.Errorf("SCRAM: the broker does not know the password (%s)", challenge)
		}
		return "", nil
	}
}

// Done says that the exchange has ended.
func (s *scram) Done() bool { return s.step >= 3 }

func (s *scram) proof(challenge string) (string, error) {
	field := map[string]string{}
	for _, part := range strings.Split(challenge, ",") {
		k, v, _ := strings.Cut(part, "=")
		field[k] = v
	}
	salt, err := base64.StdEncoding.DecodeString(field["s"])
	rounds, err2 := strconv.Atoi(field["i"])
	if err != nil || err2 != nil || rounds < 1 || rounds > 1<<24 || !strings.HasPrefix(field["r"], s.nonce) {
		return "", fmt.Errorf("SCRAM challenge %q", challenge)
	}
	salted, err := pbkdf2.Key(s.hash, s.pwd, salt, rounds, s.hash().Size())
	if err != nil {
		return "", fmt.Errorf("SCRAM key: %w", err)
	}
	final := "c=biws,r=" + field["r"]
	text := s.first + "," + challenge + "," + final
	clientKey := s.mac(salted, "Client Key")
	h := s.hash()
	h.Write(clientKey)
	signature := s.mac(h.Sum(nil), text)
	for i := range clientKey {
		clientKey[i] ^= signature[i]
	}
	s.expect = base64.StdEncoding.EncodeToString(s.mac(s.mac(salted, "Server Key"), text))
	return final + ",p=" + base64.StdEncoding.EncodeToString(clientKey), nil
}

func (s *scram) mac(key []byte, text string) []byte {
	m := hmac.New(s.hash, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}
