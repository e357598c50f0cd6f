/** Returns an environment with only what a program needs to run, and another home folder. */
export function bareEnvironment(home: string): Record<string, string> {
  const inherited = ['PATH', 'SystemRoot'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  return { ...Object.fromEntries(inherited), HOME: home, USERPROFILE: home, TMPDIR: home, TEMP: home }
}

/** Returns a free port. */
export async function freePort(): Promise<number> {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const { port } = server
  await server.stop(true)
  if (port === undefined) throw new Error('No free port was found.')
  return port
}

/** An executable with its working folder and its environment. */
export type Installation = {
  readonly executable: string
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}
