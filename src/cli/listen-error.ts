import { isIP } from 'node:net'

/** Why there is no server at the address, in a sentence that says what to do. */
export function listenFailure(host: string, port: number, error: unknown): string {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return `Cannot listen on ${address}: ${reasonOf(host, port, code) ?? otherReason(error)}`
}

/** Why this machine cannot listen on the host, without its subject; undefined where it can. Binds a free port of it. */
export function hostFault(host: string): string | undefined {
  try {
    void Bun.serve({ hostname: host, port: 0, reusePort: false, fetch: () => new Response() }).stop(true)
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return reasonOf(host, 0, code) ?? otherReason(error)
  }
}

function reasonOf(host: string, port: number, code: unknown): string | undefined {
  if (code === 'EADDRINUSE')
    return `port ${port} is in use, perhaps by another weir. Stop that program, or choose another port with --port.`
  if (code === 'EACCES')
    return `this user may not listen on port ${port}. Choose a port above 1023 with --port.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    const claim = isIP(host) > 0 ? 'is not an address of this machine' : 'is not a name of this machine'
    return `${host} ${claim}. Choose another host with --host, such as 127.0.0.1, or 0.0.0.0 for every interface.`
  }
  return undefined
}

function otherReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return `${message.replace(/\.$/, '')}. Choose another address with --host or --port.`
}
