import { hash } from 'node:crypto'

/** A file of the page, in the encodings in which it can be sent. */
export type PageFile = {
  /** Where it is served: `/` for the document. */
  readonly path: string
  readonly contentType: string
  /** Of its content. */
  readonly hash: string
  readonly encodings: Readonly<Partial<Record<Encoding, Blob>>> & { readonly identity: Blob }
}

/** A content encoding, as in the header `content-encoding`. */
export type Encoding = 'identity' | 'gzip' | 'br'

/** Returns a short name of the content. */
export function contentHash(content: Uint8Array): string {
  return hash('sha256', content, 'hex').slice(0, 16)
}

/** Renders the document that loads these scripts and style sheets. */
export function pageHtml(paths: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Weir</title>
<link rel="icon" href="${icon}">
${paths.map(elementFor).join('\n')}
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript. The API of this gateway is below /v1, and described in /openapi.json.</noscript>
</body>
</html>
`
}

/** Water over a weir, in the accent of the page. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f766e"/><path d="M7 10h9c5 0 4 12 9 12M7 15h6c5 0 3 7 8 7M7 22h7" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/></svg>`,
)}`

function elementFor(path: string): string {
  return path.endsWith('.css')
    ? `<link rel="stylesheet" href="${path}">`
    : `<script type="module" src="${path}"></script>`
}
