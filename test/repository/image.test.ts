import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { commands } from '../../src/cli/run.ts'
import { targets } from '../../src/build/release.ts'
import { projectFolder, sourceFiles } from '../support/source.ts'

const dockerfile = await Bun.file(join(projectFolder, 'Dockerfile')).text()
const ignored = await Bun.file(join(projectFolder, '.dockerignore')).text()

test('the image starts a command of weir, and another one is its health check', () => {
  const [, health, start] = /CMD (\["weir".*\])\nENTRYPOINT \["weir"\]\nCMD (\[.*\])/.exec(dockerfile) ?? []
  const names = commands.map(({ name }) => name)
  expect(JSON.parse(health ?? '')).toEqual(['weir', 'health'])
  expect(names).toContain('health')
  expect(names).toContain(JSON.parse(start ?? '')[0])
})

test('the image runs as a user without rights, who owns the data folder', () => {
  const [, user] = /^USER (\d+:\d+)$/m.exec(dockerfile) ?? []
  const [, owner, group] = /--owner=(\d+) --group=(\d+) .*\/image\/data /m.exec(dockerfile) ?? []
  expect(user).toBe(`${owner}:${group}`)
  expect(owner).not.toBe('0')
})

test('every variable that the image sets is read by the program', async () => {
  const [, line = ''] = /^ENV (.*)$/m.exec(dockerfile) ?? []
  const names = line.split(' ').flatMap((pair) => /^(WEIR_\w+)=/.exec(pair)?.[1] ?? [])
  expect(names).toContain('WEIR_DATA')
  const program = (await sourceFiles('src')).map(({ text }) => text).join('\n')
  expect(names.filter((name) => !program.includes(`environment.${name}`))).toEqual([])
})

test('the build context holds the executables of Linux, the licence and no source', () => {
  const [everything, ...kept] = ignored.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  expect(everything).toBe('*')
  const globs = kept.map((line) => new Bun.Glob(line.replace(/^!/, '')))
  const isKept = (path: string) => globs.some((glob) => glob.match(path))
  const linux = targets.map(({ file }) => `dist/${file}`).filter((path) => path.includes('linux'))
  expect(['dist/weir', 'LICENSE', 'NOTICE', ...linux].filter((path) => !isKept(path))).toEqual([])
  expect(['src/main.ts', '.git/config', 'package.json'].filter(isKept)).toEqual([])
})

test.skipIf(process.platform !== 'linux' || Bun.which('ldd') === null)(
  'Bun, and so the executable, links to nothing but the C library',
  () => {
    const libraries = Bun.spawnSync(['ldd', process.execPath]).stdout.toString()
    const names = [...libraries.matchAll(/([\w.+-]+)\.so/g)].map(([, name = '']) => name)
    expect(names).toContain('libc')
    const glibc = /^(linux-vdso|linux-gate|ld-linux[\w-]*|libc|libm|libdl|libpthread|librt)$/
    expect(names.filter((name) => !glibc.test(name))).toEqual([])
  },
)

test('every action of the workflows is pinned to a commit', async () => {
  const workflows = await Array.fromAsync(
    new Bun.Glob('.github/workflows/*.yml').scan({ cwd: projectFolder, dot: true }),
  )
  expect(workflows.length).toBeGreaterThan(1)
  for (const path of workflows) {
    const text = await Bun.file(join(projectFolder, path)).text()
    const actions = [...text.matchAll(/uses: (.*)$/gm)].map(([, action = '']) => action)
    expect(actions.length).toBeGreaterThan(0)
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  }
})
