import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectFolder } from '../support/source.ts'

const program = Bun.which('systemd-analyze')
const note = program ? '' : ' (skipped: systemd-analyze is not installed)'

test.skipIf(program === null)(
  `systemd accepts deploy/systemd/weir.service without a warning${note}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-unit-'))
    try {
      const text = await Bun.file(join(projectFolder, 'deploy/systemd/weir.service')).text()
      // Weir is not installed where the file expects it.
      const unit = join(folder, 'weir.service')
      await Bun.write(unit, text.replace('/usr/local/bin/weir', process.execPath))
      const { exitCode, stdout, stderr } = Bun.spawnSync([program ?? '', 'verify', '--man=no', unit])
      expect([exitCode, stdout.toString(), stderr.toString()]).toEqual([0, '', ''])
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)

test('a server that deploy/systemd/weir.service starts can read the id of the boot, as quick eviction needs', async () => {
  const text = await Bun.file(join(projectFolder, 'deploy/systemd/weir.service')).text()
  const settings = text.split('\n').filter((line) => line.startsWith('Proc'))
  expect(settings).toEqual([])
  expect(text.split('\n')).toContain('ProtectProc=invisible')
})
