package pressure

import "net/netip"

// Address is whom an address of the network stands for: an IPv4 address, or an
// IPv6 network of 64 bits, since that is what one client is given. "" is one that
// cannot be told.
func Address(remote string) string {
	ip, ok := addressOf(remote)
	if !ok {
		return ""
	}
	if ip.Is4() {
		return ip.String()
	}
	network, _ := ip.Prefix(64) // every IPv6 address has one
	return network.String()
}

// local tells whether a remote address is of this host or its private network,
// or none of the network. There stand reverse proxies, behind one of whose
// addresses are all clients.
func local(remote string) bool {
	ip, ok := addressOf(remote)
	return !ok || ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
}

func addressOf(remote string) (netip.Addr, bool) {
	ap, err := netip.ParseAddrPort(remote)
	return ap.Addr().Unmap().WithZone(""), err == nil
}
