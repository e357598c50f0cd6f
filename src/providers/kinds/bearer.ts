/** The header with the key as a bearer token, which most providers take. */
export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` }
}
