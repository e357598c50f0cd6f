/** A machine on which nothing is set: what a program needs to run at all, and a home that is not the user's. */
export function bareEnvironment(home: string): Record<string, string> {
  const kept = ['PATH', 'SystemRoot'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  return { ...Object.fromEntries(kept), HOME: home, USERPROFILE: home, TMPDIR: home, TEMP: home }
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const { port } = server
  await server.stop(true)
  if (port === undefined) throw new Error('The system gave no free port.')
  return port
}

/** An executable, the folder it is started in, and all that its environment holds. */
export type Installation = {
  readonly executable: string
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}
