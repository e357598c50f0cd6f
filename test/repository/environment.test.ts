import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { projectFolder } from '../support/source.ts'

test('tests see WEIR_TEST_SEED, but no key and no setting of the developer or of the gate', async () => {
  const preload = join(projectFolder, 'test/support/environment.ts')
  const child = Bun.spawn(
    [process.execPath, '--preload', preload, '-e', 'console.log(JSON.stringify(process.env))'],
    {
      cwd: projectFolder,
      env: {
        WEIR_TEST_SEED: '42',
        WEIR_DATA: '/nowhere',
        ACME_API_KEY: 'secret',
        HF_TOKEN: 'secret',
        MIMALLOC_PURGE_DELAY: '-1',
        OTHER: 'x',
      },
    },
  )
  const environment = JSON.parse(await child.stdout.text())
  expect(environment).toMatchObject({ WEIR_TEST_SEED: '42', OTHER: 'x' })
  for (const name of ['WEIR_DATA', 'ACME_API_KEY', 'HF_TOKEN', 'MIMALLOC_PURGE_DELAY'])
    expect(environment).not.toHaveProperty(name)
})
