/** The key as most providers take it. */
export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` }
}
