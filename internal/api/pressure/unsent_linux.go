package pressure

import (
	"net"
	"syscall"
)

// maxUnsent is how much the kernel takes for a client before it can be sent.
// Otherwise that is up to 4 MiB (net.ipv4.tcp_wmem) of memory that nobody counts,
// and a third of it must be gone before the client is seen to take anything.
const maxUnsent = 256 << 10

const tcpNotSentLowAt = 25 // TCP_NOTSENT_LOWAT of linux/tcp.h

// boundUnsent bounds what waits in the kernel. A connection that is no TCP stays
// as it is.
func boundUnsent(conn net.Conn) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return
	}
	if raw, err := tcp.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpNotSentLowAt, maxUnsent)
		})
	}
}
