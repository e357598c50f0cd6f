/** What a data URL holds, in base64. */
export type Inline = { readonly mimeType: string; readonly data: string }

/** The content of a data URL; undefined where the text is none. */
export function parseDataUrl(url: string): Inline | undefined {
  const comma = url.indexOf(',')
  if (comma < 0 || !/^data:/i.test(url)) return undefined
  const [mimeType = '', ...attributes] = url.slice(5, comma).split(';')
  const encoded = attributes.some((attribute) => attribute.trim().toLowerCase() === 'base64')
  const text = unescaped(url.slice(comma + 1))
  if (text === undefined) return undefined
  return {
    mimeType: mimeType.trim().toLowerCase() || 'text/plain',
    data: encoded ? text : Buffer.from(text).toString('base64'),
  }
}

function unescaped(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
