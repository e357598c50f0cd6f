/** Returns whether the host of the URL accepts a TCP connection in time. Always true if a proxy is configured. */
export async function isReachable(url: string, timeoutMs: number): Promise<boolean> {
  if (proxyVariables.some((name) => process.env[name])) return true
  const { hostname, port, protocol } = new URL(url)
  const connection = Bun.connect({
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
    socket: { data() {}, open: (socket) => void socket.end(), error() {} },
  })
  const { promise: timedOut, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, timeoutMs, false)
  const connected = connection.then(
    (socket) => {
      socket.end()
      return true
    },
    () => false,
  )
  const result = await Promise.race([connected, timedOut])
  clearTimeout(timer)
  return result
}

const proxyVariables = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
