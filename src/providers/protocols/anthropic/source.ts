/** Where the bytes of an image or a document are: in the request, or behind an address. */
export type Source =
  | { readonly type: 'base64'; readonly media_type: string; readonly data: string }
  | { readonly type: 'url'; readonly url: string }

/** The source for a data URL or an address. */
export function renderSource(url: string): Source {
  const [, head, data] = /^data:([^,]*),(.*)$/is.exec(url) ?? []
  if (head === undefined || data === undefined) return { type: 'url', url }
  const [type = '', ...attributes] = head.toLowerCase().split(';')
  const encoded = attributes.some((attribute) => attribute.trim() === 'base64')
  return { type: 'base64', media_type: mediaType(type), data: encoded ? data : toBase64(data) }
}

/** A wrong name that is common, and refused. */
function mediaType(type: string): string {
  const name = type.trim()
  return name === 'image/jpg' ? 'image/jpeg' : name
}

function toBase64(data: string): string {
  return Buffer.from(percentDecoded(data)).toString('base64')
}

function percentDecoded(data: string): string {
  try {
    return decodeURIComponent(data)
  } catch {
    return data
  }
}
