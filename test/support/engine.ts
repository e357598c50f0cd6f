/** An engine on this machine that lists its models, and can be stopped and started again. */
export type Engine = {
  /** With `/v1` behind it, as a provider's `base_url`. */
  readonly url: string
  readonly requests: readonly { readonly method: string; readonly path: string }[]
  /** Replaces the reply to further requests. */
  reply(next: Reply): void
  readonly stop: () => Promise<void>
}

type Reply = (request: Request) => Response | Promise<Response>

const list: Reply = () => Response.json({ object: 'list', data: [{ id: 'river-9b', object: 'model' }] })

/** Starts an engine on a free port; it has the model `river-9b` unless it replies something else. */
export function startEngine(reply: Reply = list, port = 0): Engine {
  let current = reply
  const requests: { method: string; path: string }[] = []
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch(request) {
      requests.push({ method: request.method, path: new URL(request.url).pathname })
      return current(request)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    requests,
    reply: (next) => void (current = next),
    stop: () => server.stop(true),
  }
}

/** Starts an engine on the port of one that was stopped. */
export function restartEngine({ url }: Engine): Engine {
  return startEngine(list, Number(new URL(url).port))
}
