import { createServer, type Socket } from 'node:net'

/** A proxy that forwards nothing and notes what it was asked for: a program behind it cannot leave the machine unseen. */
export type ProxyTrap = AsyncDisposable & {
  /** The environment that sends every request to the trap, but those to loopback. */
  readonly environment: Readonly<Record<string, string>>
  /** The hosts that were requested, each once. */
  hosts(): readonly string[]
}

/** Starts one. */
export async function startProxyTrap(): Promise<ProxyTrap> {
  const hosts = new Set<string>()
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => {})
    socket.once('data', (bytes) => {
      const [, target = '?'] = bytes.toString('latin1').split(' ')
      hosts.add(target)
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const names = ['http_proxy', 'https_proxy', 'all_proxy']
  const proxies = names.flatMap((name) => [name, name.toUpperCase()]).map((name) => [name, url])
  const loopback = '127.0.0.1,localhost'
  return {
    environment: { ...Object.fromEntries(proxies), no_proxy: loopback, NO_PROXY: loopback },
    hosts: () => [...hosts],
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
