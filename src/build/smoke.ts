import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { randomText } from '../lib/id.ts'
import { expectHealth, expectHelp, expectLicenses, expectVersion } from './smoke/commands.ts'
import { bareEnvironment, freePort } from './smoke/machine.ts'
import { expectChatCompletion, expectPage, expectUnauthorized, expectStream } from './smoke/requests.ts'
import { startServer } from './smoke/server.ts'

const executable = process.argv[2]
if (!executable) {
  console.error('Name the executable to try: bun run smoke dist/weir')
  process.exit(2)
}
const folder = await mkdtemp(join(tmpdir(), 'weir-smoke-'))
try {
  await smokeTest(resolve(executable), folder)
  console.log('The executable works.')
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}

/** Tests an executable in an empty folder and environment, including a kill and a restart. */
async function smokeTest(executable: string, folder: string): Promise<void> {
  const emptyFolder = join(folder, 'empty')
  await mkdir(emptyFolder)
  const environment = { ...bareEnvironment(folder), WEIR_DATA: join(folder, 'data') }
  const installation = { executable, folder: emptyFolder, environment }
  await expectHelp(installation)
  await expectVersion(installation)
  await expectLicenses(installation)

  const key = `sk-weir-${randomText(12)}-${randomText(40)}`
  const port = await freePort()
  const withKey = { ...installation, environment: { ...environment, WEIR_BOOTSTRAP_KEY: key } }
  await using server = await startServer(withKey, port)
  await expectHealth(installation, port)
  await expectUnauthorized(server.address)
  await expectChatCompletion(server.address, key)
  await expectStream(server.address, key)
  await expectPage(server.address)
  await server.kill()

  await using restarted = await startServer(installation, port)
  await expectChatCompletion(restarted.address, key)
  await restarted.stop()
}
