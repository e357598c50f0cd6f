import { join } from 'node:path'
import { contentHash, type PageFile, pageHtml } from './page-file.ts'

/** The page as the bundler makes it: its files, and what is in them. */
type PageBundle = { readonly files: readonly BundledFile[]; readonly metafile: Bun.BuildMetafile }

/** A file of the page with its content. */
export type BundledFile = Omit<PageFile, 'encodings'> & { readonly content: Uint8Array<ArrayBuffer> }

const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** Bundles the page from its source: one script, one style sheet, and the document that loads them. */
export async function bundlePage(): Promise<PageBundle> {
  const result = await Bun.build({
    entrypoints: ['main.tsx', 'style/page.css'].map((path) => join(import.meta.dir, '../../page', path)),
    target: 'browser',
    format: 'esm',
    minify: true,
    naming: '[name].[ext]',
    define: { 'process.env.NODE_ENV': '"production"' },
    jsx: { runtime: 'automatic', importSource: 'preact', development: false },
    metafile: true,
    throw: false,
  } as Bun.BuildConfig)
  if (!result.success) throw new Error(result.logs.map(String).join('\n'))
  if (result.metafile === undefined) throw new Error('The bundler did not report what is in the page.')
  const assets = await Promise.all(result.outputs.map(toAsset))
  return { files: [documentOf(assets), ...assets], metafile: result.metafile }
}

/** A file whose address changes with its content. */
async function toAsset(output: Bun.BuildArtifact): Promise<BundledFile> {
  const content = new Uint8Array(await output.arrayBuffer())
  const [, extension = ''] = /(\.\w+)$/.exec(output.path) ?? []
  const contentType = contentTypes[extension]
  if (contentType === undefined) throw new Error(`The page has a file of an unknown kind: ${output.path}`)
  const hash = contentHash(content)
  return { path: `/page/weir.${hash}${extension}`, contentType, hash, content }
}

function documentOf(assets: readonly BundledFile[]): BundledFile {
  const content = new TextEncoder().encode(pageHtml(assets.map(({ path }) => path)))
  return { path: '/', contentType: 'text/html; charset=utf-8', hash: contentHash(content), content }
}
