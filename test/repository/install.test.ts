import { describe, expect, onTestFinished, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { formatChecksums, targets } from '../../src/build/release.ts'
import { temporaryFolder } from '../unit/storage/support/folder.ts'
import { projectFolder } from '../support/source.ts'

const executable = '#!/bin/sh\necho "weir 9.9.9 (fake)"\n'
const everyTool = ['awk', 'cat', 'chmod', 'cp', 'curl', 'mkdir', 'mktemp', 'mv', 'rm', 'sha256sum']

const canRun = process.platform !== 'win32' && everyTool.every((tool) => Bun.which(tool) !== null)

describe.skipIf(!canRun)('install.sh', () => {
  test.each([
    ['Linux x86_64', 'ldd (Debian GLIBC 2.36) 2.36', 'weir-linux-x64'],
    ['Linux x86_64', 'musl libc (x86_64)', 'weir-linux-x64-musl'],
    ['Linux aarch64', 'ldd (Debian GLIBC 2.36) 2.36', 'weir-linux-arm64'],
    ['Darwin arm64', '', 'weir-darwin-arm64'],
  ])('on %s with %p installs %s for this user, and leaves nothing else', async (system, libc, file) => {
    const machine = await createMachine({ system, libc })
    const { code, out, err } = await machine.install()
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain(`weir 9.9.9 (fake) is installed: ${machine.home}/.local/bin/weir\n`)
    expect(out).toContain('is not in the PATH')
    expect(machine.requests).toEqual(['/latest/download/SHA256SUMS', `/latest/download/${file}`])
    expect(targets.map((target) => target.file)).toContain(file)
    expect(readdirSync(join(machine.home, '.local/bin'))).toEqual(['weir'])
    expect(readdirSync(machine.temporary)).toEqual([])
  })

  test('replaces an installed version, with a version and a prefix of its own', async () => {
    const machine = await createMachine()
    await Bun.write(join(machine.home, 'tools here/bin/weir'), 'old')
    const { code, err } = await machine.install('--version', 'v9.9.9', '--prefix', 'tools here')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(machine.requests).toEqual(['/download/v9.9.9/SHA256SUMS', '/download/v9.9.9/weir-linux-x64'])
    const installed = join(machine.home, 'tools here/bin/weir')
    expect(Bun.spawnSync([installed]).stdout.toString()).toBe('weir 9.9.9 (fake)\n')
    expect(existsSync(join(machine.home, '.local'))).toBe(false)
  })

  test.each([
    ['wget', 'curl'],
    ['shasum', 'sha256sum'],
    ['openssl', 'sha256sum'],
  ])('works with %s instead of %s', async (tool, missing) => {
    if (Bun.which(tool) === null) return
    const tools = [...everyTool.filter((name) => name !== missing), tool]
    const { code, err } = await (await createMachine({ tools })).install()
    expect({ code, err }).toEqual({ code: 0, err: '' })
  })

  test.each<[string, Partial<Machine>, string[], number, RegExp]>([
    [
      'a wrong checksum',
      { sums: 'wrong' },
      [],
      1,
      /^The checksum of weir-linux-x64 is wrong: nothing was installed\.\n/,
    ],
    [
      'no checksum',
      { sums: 'missing' },
      [],
      1,
      /^SHA256SUMS does not name weir-linux-x64: nothing was installed\.\n$/,
    ],
    [
      'a version that does not exist',
      {},
      ['--version', '0.0.1'],
      1,
      /The download failed: http:\S+v0\.0\.1\/SHA256SUMS\n$/,
    ],
    [
      'an executable that does not run',
      { body: '#!/bin/sh\nexit 3\n' },
      [],
      1,
      /^The executable does not run on this machine/,
    ],
    [
      'an executable of Alpine without its library',
      { libc: 'musl libc', body: '#!/bin/sh\nexit 127\n' },
      [],
      1,
      /^The executable does not run: nothing was installed\. On Alpine it needs: apk add libstdc\+\+\n$/,
    ],
    [
      'no program for downloads',
      { tools: everyTool.filter((name) => name !== 'curl') },
      [],
      1,
      /needs curl or wget\.\n$/,
    ],
    [
      'no program for checksums',
      { tools: everyTool.filter((name) => name !== 'sha256sum') },
      [],
      1,
      /needs sha256sum/,
    ],
    ['another system', { system: 'Plan9 x86_64' }, [], 1, /^There is no executable for Plan9 on x86_64\./],
    [
      'musl on arm64',
      { system: 'Linux aarch64', libc: 'musl libc' },
      [],
      1,
      /^There is no executable for Linux on arm64 with musl/,
    ],
    ['macOS on Intel', { system: 'Darwin x86_64' }, [], 1, /^There is no executable for macOS on Intel/],
    ['root without a prefix', { user: 0 }, [], 1, /^This is root: name the prefix/],
    [
      'an address without TLS',
      { releases: 'http://releases.example' },
      [],
      1,
      /^WEIR_RELEASES must be an https address/,
    ],
    ['an unknown argument', {}, ['--prefx', '/tmp'], 2, /^Unknown argument: --prefx\nUsage: /],
    ['a version that is a path', {}, ['--version', '../../x'], 2, /^--version must be a version/],
  ])('refuses %s and installs nothing', async (_, machineFacts, args, expectedCode, message) => {
    const machine = await createMachine(machineFacts)
    const { code, err } = await machine.install(...args)
    expect(err).toMatch(message)
    expect(code).toBe(expectedCode)
    expect(existsSync(join(machine.home, '.local/bin/weir'))).toBe(false)
    expect(readdirSync(machine.temporary)).toEqual([])
  })
})

type Machine = {
  readonly system: string
  readonly libc: string
  readonly user: number
  readonly tools: readonly string[]
  readonly sums: 'right' | 'wrong' | 'missing'
  readonly body: string
  readonly releases: string
}

/** Creates a home folder, a PATH with only these tools, and a server with the release 9.9.9. */
async function createMachine(facts: Partial<Machine> = {}) {
  const { system = 'Linux x86_64', libc = 'ldd (Debian GLIBC 2.36) 2.36', user = 1000 } = facts
  const folder = temporaryFolder()
  const [home, path, temporary] = ['home', 'path', 'tmp'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const created of [home, path, temporary]) await mkdir(created)
  for (const tool of facts.tools ?? everyTool) await symlink(Bun.which(tool) ?? '/nowhere', join(path, tool))
  const [kernel = '', processor = ''] = system.split(' ')
  await script(path, 'uname', `[ "$1" = -s ] && echo '${kernel}' || echo '${processor}'`)
  // musl prints on standard error.
  await script(path, 'ldd', `echo '${libc}' >&2; exit 1`)
  await script(path, 'id', `echo ${user}`)
  const { address, requests } = serveRelease(facts)

  async function install(...args: string[]) {
    const child = Bun.spawn(['/bin/sh', join(projectFolder, 'install.sh'), ...args], {
      cwd: home,
      env: { HOME: home, PATH: path, TMPDIR: temporary, WEIR_RELEASES: facts.releases ?? address },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
    return { code: await child.exited, out, err }
  }
  return { home, temporary, requests, install }
}

async function script(folder: string, name: string, command: string): Promise<void> {
  await Bun.write(join(folder, name), `#!/bin/sh\n${command}\n`)
  await chmod(join(folder, name), 0o755)
}

/** Serves the files of a release under the names of the build. */
function serveRelease({ sums = 'right', body = executable }: Partial<Machine>) {
  const requests: string[] = []
  const hash = new Bun.CryptoHasher('sha256').update(sums === 'wrong' ? 'other' : body).digest('hex')
  const listed = sums === 'missing' ? [] : targets
  const checksums = formatChecksums(new Map(listed.map(({ file }) => [file, hash])))
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      requests.push(pathname)
      const [, file] = /^\/(?:latest\/download|download\/v9\.9\.9)\/(.+)$/.exec(pathname) ?? []
      if (file === 'SHA256SUMS') return new Response(checksums)
      return targets.some((target) => target.file === file)
        ? new Response(body)
        : new Response('', { status: 404 })
    },
  })
  onTestFinished(() => server.stop(true))
  return { address: `http://127.0.0.1:${server.port}`, requests }
}
