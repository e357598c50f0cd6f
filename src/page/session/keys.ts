/** The keys that this tab has: one of an organization, the one of the operator, or both. */
export type Keys = { readonly apiKey?: string; readonly adminKey?: string }

/** Where the tab keeps its keys. `sessionStorage` ends with the tab; no other tab and no server can read it. */
const storageKey = 'weir.keys'

/** A longer text is not a key. */
const maxKeyLength = 512

/** Reads the keys of this tab. */
export function loadKeys(storage: Storage = sessionStorage): Keys {
  try {
    const stored: unknown = JSON.parse(storage.getItem(storageKey) ?? '{}')
    const { apiKey, adminKey } = (stored ?? {}) as Readonly<Record<string, unknown>>
    return { ...keyField('apiKey', apiKey), ...keyField('adminKey', adminKey) }
  } catch {
    // Written by something else.
    return {}
  }
}

/** Keeps the keys until the tab is closed. */
export function saveKeys(keys: Keys, storage: Storage = sessionStorage): void {
  if (keys.apiKey === undefined && keys.adminKey === undefined) storage.removeItem(storageKey)
  else storage.setItem(storageKey, JSON.stringify(keys))
}

/** Returns the key of a link such as `/#key=sk-…`, and removes it from the address and the history at once. */
export function takeKeyFromAddress(): string | undefined {
  if (!/^#\/?\??key=/.test(location.hash)) return undefined
  const parameters = new URLSearchParams(location.hash.replace(/^#\/?\??/, ''))
  history.replaceState(null, '', `${location.pathname}#/`)
  return toKey(parameters.get('key') ?? '')
}

/** Returns the key in a text that a person has entered; undefined if it cannot be one. */
export function toKey(text: string): string | undefined {
  const key = text.trim().replace(/^bearer\s+/i, '')
  // Other characters are not allowed in a header.
  return /^[\x21-\x7e]+$/.test(key) && key.length <= maxKeyLength ? key : undefined
}

function keyField(name: keyof Keys, value: unknown): Keys {
  const key = typeof value === 'string' ? toKey(value) : undefined
  return key === undefined ? {} : { [name]: key }
}
