import type { Installation } from './machine.ts'

/** Expects the help to name the commands, and prints how long it took. */
export async function expectHelp(installation: Installation): Promise<void> {
  // The first run reads the file from the disk; the second shows the usual delay.
  await output(installation, ['--help'])
  const started = performance.now()
  const help = await output(installation, ['--help'])
  console.log(`weir --help      ${Math.round(performance.now() - started)} ms`)
  for (const command of ['serve', 'check', 'keys', 'models']) {
    if (!help.includes(command)) throw new Error(`weir --help does not name ${command}:\n${help}`)
  }
}

/** Expects `weir version` to print a name and a number. */
export async function expectVersion(installation: Installation): Promise<void> {
  const version = await output(installation, ['version'])
  if (!/^weir \d+\.\d+\.\d+/.test(version)) throw new Error(`weir version printed: ${version}`)
  console.log(`weir version     ${version.trim()}`)
}

/** Expects `weir health` to find the server ready. */
export async function expectHealth(installation: Installation, port: number): Promise<void> {
  console.log(`weir health      ${(await output(installation, ['health', '--port', String(port)])).trim()}`)
}

/** Expects `weir licenses` to print texts of licences, which are in the executable. */
export async function expectLicenses(installation: Installation): Promise<void> {
  const text = await output(installation, ['licenses'])
  if (!text.includes('Permission is hereby granted')) throw new Error(`weir licenses printed: ${text}`)
  console.log(`weir licenses    ${text.length} characters`)
}

async function output({ executable, folder, environment }: Installation, args: string[]): Promise<string> {
  const child = Bun.spawn([executable, ...args], {
    cwd: folder,
    env: environment,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 10_000,
  })
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()])
  const code = await child.exited
  if (code !== 0) throw new Error(`weir ${args.join(' ')} ended with ${code}: ${errors || out}`)
  return out
}
