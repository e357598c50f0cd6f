import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { compile } from './compile.ts'
import { install, projectFolder } from './install.ts'
import { checksums, type Target, targets } from './release.ts'

const { values: flags } = parseArgs({
  options: { all: { type: 'boolean', default: false }, into: { type: 'string' } },
})
const folder = flags.into ?? join(projectFolder, 'dist')
const localFile = process.platform === 'win32' ? 'weir.exe' : 'weir'

if (!(await install())) process.exit(1)
await (flags.all ? buildAll() : build({ file: localFile }))

async function buildAll(): Promise<void> {
  const files: string[] = []
  for (const target of targets) files.push(await build(target))
  await Bun.write(join(folder, 'SHA256SUMS'), await checksums(files))
  console.log(`${displayPath(join(folder, 'SHA256SUMS'))} contains the checksums of ${files.length} files.`)
}

async function build(target: Partial<Target> & Pick<Target, 'file'>): Promise<string> {
  const file = join(folder, target.file)
  const started = performance.now()
  await compile(join(projectFolder, 'src/main.ts'), file, target.runtime)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${displayPath(file)}  ${(Bun.file(file).size / 1024 / 1024).toFixed(1)} MiB  ${seconds} s`)
  return file
}

function displayPath(file: string): string {
  return relative(process.cwd(), file)
}
