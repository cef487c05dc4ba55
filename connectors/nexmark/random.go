package nexmark

import (
	"math"
	"math/bits"
	"strconv"
)

// golden is 2^64 divided by the golden ratio, the step of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom
// Number Generators, 2014), whose mixing function is used here on numbers of events instead of a running state.
const golden = 0x9e3779b97f4a7c15

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// draw gives the random number of an event for one purpose.
func draw(event int64, purpose uint64) uint64 {
	return mix(uint64(event)*golden + purpose*0xd1342543de82ef95)
}

// Purposes that need random numbers of their own.
const (
	forAuction uint64 = iota + 1
	forBidder
	forPrice
	forReserve
	forChannel
	forExtra
	forSeller
	forCategory
	forExpires
	forItemName
	forDescription
	forPersonName
	forEmail
	forCard
	forCity
	forState
)

// below scales a random number to 0 .. n-1.
func below(h uint64, n int64) int64 {
	hi, _ := bits.Mul64(h, uint64(n))
	return int64(hi)
}

// texts are what events take their texts from: substrings of two long ones and whole ones.
type texts struct {
	letters  string // a to z
	words    string // with blanks in between
	names    []string
	channels []string
	urls     []string // of the channels
	hot      [4]string
	hotURLs  [4]string

	// 10^(6u) for a random u in [0, 1): of its first 12 bits and of the 12 bits behind them; prices are a product.
	coarse, fine [1 << 12]float64
}

const (
	textBytes   = 1 << 18
	maxSize     = textBytes / 4 // of an event
	numChannels = 10_000
)

var (
	firstNames = []string{"Ada", "Bela", "Carl", "Dora", "Emil", "Fatima", "Greta", "Hugo", "Ines", "Jonas", "Kaya"}
	lastNames  = []string{"Arndt", "Berg", "Castro", "Dahl", "Egli", "Fuchs", "Grau", "Hansen", "Ivanov"}
	usStates   = []string{"AZ", "CA", "ID", "OR", "WA", "WY"}
	usCities   = []string{"Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"}
)

// newTexts makes the texts, the same ones each time.
func newTexts() *texts {
	t := &texts{hot: [4]string{"Google", "Facebook", "Baidu", "Apple"}}
	state := uint64(1)
	next := func(n int64) int64 {
		state += golden
		return below(mix(state), n)
	}
	letters, words := make([]byte, textBytes), make([]byte, textBytes)
	for i := range letters {
		letters[i], words[i] = byte('a'+next(26)), byte('a'+next(26))
		if next(13) == 0 {
			words[i] = ' '
		}
	}
	t.letters, t.words = string(letters), string(words)
	for _, f := range firstNames {
		for _, l := range lastNames {
			t.names = append(t.names, f+" "+l)
		}
	}
	part := func() string { n := 3 + next(3); at := next(textBytes - n); return t.letters[at : at+n] }
	page := func() string {
		return "https://www.nexmark.com/" + part() + "/" + part() + "/" + part() + "/item.htm?query=1"
	}
	for i := range t.hotURLs {
		t.hotURLs[i] = page()
	}
	for i := range uint32(numChannels) {
		url := page()
		if next(10) > 0 {
			url += "&channel_id=" + strconv.FormatInt(int64(bits.Reverse32(i)>>1), 10)
		}
		t.channels, t.urls = append(t.channels, "channel-"+strconv.FormatUint(uint64(i), 10)), append(t.urls, url)
	}
	for i := range t.coarse {
		t.coarse[i] = 100 * math.Pow(10, 6*float64(i)/(1<<12))
		t.fine[i] = math.Pow(10, 6*float64(i)/(1<<24))
	}
	return t
}

// price makes a price in cents, 100 to 100 million, its logarithm evenly spread.
func (t *texts) price(h uint64) int64 {
	return int64(t.coarse[h>>52]*t.fine[h>>40&(1<<12-1)] + 0.5)
}
