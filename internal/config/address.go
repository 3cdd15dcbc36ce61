package config

import (
	"net/netip"
	"slices"
)

// special are ranges that netip does not call private and that are nobody's on
// the internet: registries of special purposes (RFC 6890), and the ways from
// IPv6 to any IPv4, because what lies behind them is not seen.
var special = [...]netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // carrier-grade NAT
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("192.88.99.0/24"),  // 6to4 relays
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, the broadcast among it
	netip.MustParsePrefix("::/96"),           // IPv4 inside IPv6, and the unspecified address
	netip.MustParsePrefix("64:ff9b::/96"),    // NAT64
	netip.MustParsePrefix("64:ff9b:1::/48"),  // NAT64, local
	netip.MustParsePrefix("100::/64"),        // discarded
	netip.MustParsePrefix("2001::/23"),       // protocol assignments, Teredo among them
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("2002::/16"),       // 6to4
	netip.MustParsePrefix("3fff::/20"),       // documentation
	netip.MustParsePrefix("5f00::/16"),       // segment routing
	netip.MustParsePrefix("fec0::/10"),       // site-local, as it once was
}

// IsPublic reports whether an address is a host's on the internet. Everything else
// is reached only by channels that may (allow_private).
func IsPublic(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() { // not unicast: loopback, link-local, multicast, unspecified
		return false
	}
	return !slices.ContainsFunc(special[:], func(p netip.Prefix) bool { return p.Contains(ip) })
}
