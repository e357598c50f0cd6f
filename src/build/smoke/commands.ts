/** An executable, the folder it is started in, and all that its environment holds. */
export type Place = {
  readonly executable: string
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

/** Help names the commands; how long it took to start is said. */
export async function expectHelp(place: Place): Promise<void> {
  // The first run reads the file from the disk; the second shows what a user waits for.
  await output(place, ['--help'])
  const started = performance.now()
  const help = await output(place, ['--help'])
  console.log(`weir --help      ${Math.round(performance.now() - started)} ms`)
  for (const command of ['serve', 'check', 'keys', 'models']) {
    if (!help.includes(command)) throw new Error(`weir --help does not name ${command}:\n${help}`)
  }
}

/** The version is a name and a number. */
export async function expectVersion(place: Place): Promise<void> {
  const version = await output(place, ['version'])
  if (!/^weir \d+\.\d+\.\d+/.test(version)) throw new Error(`weir version says: ${version}`)
  console.log(`weir version     ${version.trim()}`)
}

async function output({ executable, folder, environment }: Place, args: string[]): Promise<string> {
  const running = Bun.spawn([executable, ...args], {
    cwd: folder,
    env: environment,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 10_000,
  })
  const [out, complaint] = await Promise.all([running.stdout.text(), running.stderr.text()])
  const code = await running.exited
  if (code !== 0) throw new Error(`weir ${args.join(' ')} ended with ${code}: ${complaint || out}`)
  return out
}
