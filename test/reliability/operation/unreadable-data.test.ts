import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { callWeir } from '../../cli/support/run-weir.ts'
import { testDatabase, temporaryFolder } from '../../unit/storage/support/folder.ts'
import { weirCommand } from '../../support/weir-command.ts'

const canMount =
  process.platform === 'linux' &&
  Bun.which('unshare') !== null &&
  Bun.spawnSync(['unshare', '-rm', 'mount', '-t', 'tmpfs', 'x', '/mnt'], { stderr: 'ignore' }).success

const commands = [
  ['keys', 'list'],
  ['keys', 'create'],
  ['backup', 'copy.db'],
] as const

test.skipIf(process.platform === 'win32').each(commands)(
  'weir %s %s says that the data folder is a file',
  async (command, operand) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'data'), '')
    const { code, err } = await callWeir([command, operand, '--data', 'data'], folder)
    const reason = 'part of the path is not a folder (ENOTDIR)'
    expect([code, err]).toEqual([1, `The database ${folder}/data/weir.db cannot be opened: ${reason}.\n`])
  },
)

test.each([
  ['missing/copy.db', 'there is no folder FOLDER/missing. Create it, or choose another file.'],
  ['weir.db/copy.db', 'FOLDER/weir.db is not a folder. Choose another file.'],
  ['weir.db/deep/copy.db', 'part of the path is not a folder (ENOTDIR).'],
])('weir backup %s says that the folder of the copy does not exist, and creates none', async (file, says) => {
  const folder = temporaryFolder()
  testDatabase(join(folder, 'weir.db')).sqlite.close()
  const { code, out, err } = await callWeir(['backup', file, '--data', '.'], folder)
  expect([code, out, err]).toEqual([1, '', `The backup failed: ${says.replace('FOLDER', folder)}\n`])
  expect(readdirSync(folder)).toEqual(['weir.db'])
})

test.skipIf(!canMount).each([
  [
    ['keys', 'list'],
    /^The database .*weir\.db cannot be opened: the file system is read-only \(EROFS\)\.\n$/,
  ],
  [['backup', 'copy.db'], /^The backup failed: .*weir\.db: the file system is read-only \(EROFS\)\.\n$/],
])('weir %j says that the file system of a stopped gateway is read-only', async (args, message) => {
  const folder = temporaryFolder()
  testDatabase(join(folder, 'weir.db')).sqlite.close()
  mkdirSync(join(folder, 'data'))
  const script =
    'mount -t tmpfs disk data && cp weir.db data && mount -o remount,ro data && exec "$@" --data data'
  const child = Bun.spawn(['unshare', '-rm', 'sh', '-c', script, 'sh', ...weirCommand, ...args], {
    cwd: folder,
    env: { HOME: folder, PATH: process.env.PATH },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  expect(await child.stderr.text()).toMatch(message)
  expect(await child.exited).toBe(1)
})

test.skipIf(!canMount)('a command on a full disk says that the disk is full', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'data'))
  // Space for the index of the log, but not for what is written to it.
  const script = `mount -t tmpfs -o size=3m disk data && cp weir.db data
dd if=/dev/zero of=data/filler bs=4k 2>/dev/null
truncate -s -44k data/filler
"$@" --data data; "$@" --data data --json`
  testDatabase(join(folder, 'weir.db')).sqlite.close()
  const args = [...weirCommand, 'orgs', 'create', 'acme']
  const child = Bun.spawn(['unshare', '-rm', 'sh', '-c', script, 'sh', ...args], {
    cwd: folder,
    env: { HOME: folder, PATH: process.env.PATH },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  const message = `The database ${folder}/data/weir.db is out of disk space.`
  expect([code, out]).toEqual([1, ''])
  expect(err).toBe(`${message}\n${JSON.stringify({ error: { message, code: 'service_unavailable' } })}\n`)
})
