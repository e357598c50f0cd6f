/** Whether the host of the URL takes a TCP connection in time. True where a proxy stands between: only it knows. */
export async function reachable(url: string, milliseconds: number): Promise<boolean> {
  if (proxyVariables.some((name) => process.env[name])) return true
  const { hostname, port, protocol } = new URL(url)
  const connection = Bun.connect({
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
    socket: { data() {}, open: (socket) => void socket.end(), error() {} },
  })
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, milliseconds, false)
  const connected = connection.then(
    (socket) => {
      socket.end()
      return true
    },
    () => false,
  )
  const answer = await Promise.race([connected, late])
  clearTimeout(timer)
  return answer
}

const proxyVariables = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy']
