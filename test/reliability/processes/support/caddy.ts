import { join } from 'node:path'
import { temporaryHome } from '../../../unit/config/support/temporary-home.ts'
import { waitUntil } from '../../../support/billing-database.ts'
import { freePort } from '../../../support/free-port.ts'
import { projectFolder } from '../../../support/source.ts'

/** The executable of Caddy: the one that WEIR_TEST_CADDY names, or the one on the path. */
export const caddyProgram = process.env.WEIR_TEST_CADDY ?? Bun.which('caddy') ?? undefined

/** Appended to a group of tests, so that a run says why they were skipped. */
export const caddyNote = caddyProgram ? '' : ' (skipped: install Caddy, or name it in WEIR_TEST_CADDY)'

/** Caddy with the file of `deploy`, in front of these servers instead of those of compose. */
export async function startCaddy(urls: readonly string[]) {
  if (caddyProgram === undefined) throw new Error('There is no Caddy on this machine.')
  const port = await freePort()
  const home = temporaryHome({ Caddyfile: await configuration(urls) })
  const url = `http://127.0.0.1:${port}`
  const child = Bun.spawn(
    [caddyProgram, 'run', '--config', home.place('Caddyfile'), '--adapter', 'caddyfile'],
    { env: { HOME: home.place('.'), SITE: url }, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
  )
  const isReady = async () => {
    if (child.exitCode !== null) throw new Error(`Caddy ended with ${child.exitCode}.`)
    return await fetch(`${url}/livez`, { keepalive: false }).then(
      ({ ok }) => ok,
      () => false,
    )
  }
  await waitUntil(isReady, 'Caddy has found a server that is ready')
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
      home[Symbol.dispose]()
    },
  }
}

/** Only the addresses are replaced; and the interface of Caddy itself is disabled, whose port may be taken. */
async function configuration(urls: readonly string[]): Promise<string> {
  const text = await Bun.file(join(projectFolder, 'deploy/caddy/replicas.Caddyfile')).text()
  const servers = urls.map((url) => new URL(url).host).join(' ')
  return `{\n\tadmin off\n}\n${text.replace(/reverse_proxy weir-1:.* \{/, `reverse_proxy ${servers} {`)}`
}
