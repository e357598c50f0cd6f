import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { type BundledFile, bundlePage } from '../api/page/bundle.ts'
import type { Encoding } from '../api/page/page-file.ts'

/** The page, ready to be embedded in a program that is being built. */
export type PageEmbedding = {
  /** Replaces the module that would bundle the page when it runs. */
  readonly plugin: Bun.BunPlugin
  /** What is in the page. */
  readonly metafile: Bun.BuildMetafile
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Bundles and compresses the page for a program. A plugin, because a macro cannot run the bundler, and because the
 * files of an executable are read when they are requested: as strings of the program they would cost time at each start.
 */
export async function embedPage(): Promise<PageEmbedding> {
  // Before the program: the bundler would wait forever for a plugin that waits for the bundler.
  const { files, metafile } = await bundlePage()
  const folder = await mkdtemp(join(tmpdir(), 'weir-page-'))
  const contents = moduleText(await Promise.all(files.map((file) => writeEncodings(file, folder))))
  return {
    plugin: {
      name: 'page',
      setup(build) {
        build.onLoad({ filter: /[\\/]api[\\/]page[\\/]page-files\.ts$/ }, () => ({ contents, loader: 'ts' }))
      },
    },
    metafile,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** The encodings of a file. Brotli is the smallest, and gzip is what a browser accepts without TLS. */
export async function compressPageFile({
  content,
}: BundledFile): Promise<Readonly<Record<Encoding, Uint8Array>>> {
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(content),
    promisify(gzip)(content, { level: 9 }),
  ])
  return { identity: content, gzip: gz, br }
}

type Entry = { readonly file: BundledFile; readonly copies: readonly (readonly [Encoding, string])[] }

async function writeEncodings(file: BundledFile, folder: string): Promise<Entry> {
  const encodings = Object.entries(await compressPageFile(file)) as [Encoding, Uint8Array][]
  const copies = encodings.map(async ([encoding, bytes]) => {
    const path = join(folder, `${file.hash}.${encoding}`)
    await Bun.write(path, bytes)
    return [encoding, path] as const
  })
  return { file, copies: await Promise.all(copies) }
}

function moduleText(entries: readonly Entry[]): string {
  const copies = entries.flatMap(({ copies }) => copies.map(([, path]) => path))
  const name = (path: string) => `file${copies.indexOf(path)}`
  const imports = copies.map(
    (path) => `import ${name(path)} from ${JSON.stringify(path)} with { type: 'file' }`,
  )
  const list = entries.map(({ file: { path, contentType, hash }, copies }) => {
    const encodings = copies.map(([encoding, copy]) => `${encoding}: Bun.file(${name(copy)})`)
    return `{ ...${JSON.stringify({ path, contentType, hash })}, encodings: { ${encodings.join(', ')} } }`
  })
  return [...imports, `export const pageFiles = async () => [${list.join(', ')}]`].join('\n')
}
