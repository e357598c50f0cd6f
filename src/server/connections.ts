import type { AddressOf } from '../http/actor.ts'

/** Knows the addresses of clients, once there is an HTTP server. */
export type Connections = {
  /** Sets the server that receives the requests. */
  setServer(peers: Peers): void
  readonly addressOf: AddressOf
}

/** Returns the address of the client that sent a request. */
export type Peers = { requestIP(request: Request): { readonly address: string } | null }

export function createConnections(): Connections {
  let peers: Peers | undefined
  return {
    setServer: (server) => void (peers = server),
    addressOf: (request) => peers?.requestIP(request)?.address ?? null,
  }
}
