/** A web site of another origin than the gateway. */
export type ForeignSite = { readonly url: string; [Symbol.asyncDispose](): Promise<void> }

/** Starts a site of one page. */
export function startForeignSite(body: string): ForeignSite {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(`<!doctype html><link rel="icon" href="data:,"><body>${body}</body>`, {
        headers: { 'content-type': 'text/html; charset=utf-8' },
      }),
  })
  return {
    url: `http://127.0.0.1:${server.port}/`,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
