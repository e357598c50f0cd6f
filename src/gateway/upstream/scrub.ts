const maxLength = 1000

/**
 * A provider's message without what providers echo: the keys that they were sent in any form, other strings
 * that look like keys, organization ids, and the provider's host.
 */
export function scrub(message: string, host: string, keys: readonly string[] = []): string {
  let text = message
  for (const key of keys) text = text.replaceAll(key, '[key]')
  // Truncate after that: a key that the truncation cuts in two would not be recognised.
  text = text.slice(0, maxLength)
  if (host !== '') text = text.replaceAll(host, '[provider]')
  for (const [pattern, replacement] of secretPatterns) text = text.replace(pattern, replacement)
  return text
}

const secretPatterns: readonly (readonly [RegExp, string])[] = [
  [/(api key(?: provided)?: )[^\s"]+/gi, '$1[key]'],
  [/\b(?:sk|gsk|xai|pplx|fw|csk|hf|key)[-_][\w*.-]{6,}/g, '[key]'],
  [/\bAIza[\w-]{10,}/g, '[key]'],
  [/\borg[-_]\w+/g, '[organization]'],
  [/\bproj_\w+/g, '[project]'],
]
