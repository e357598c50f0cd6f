import type { Json } from './json.ts'

/** Whether the value takes at most so many bytes as JSON. One that is much larger is not walked to its end. */
export function fitsAsJson(value: Json, maxBytes: number): boolean {
  return lessAtLeast(value, maxBytes) >= 0 && Buffer.byteLength(JSON.stringify(value)) <= maxBytes
}

/** The bytes that are left beside the value at the most; negative as soon as there are none. */
function lessAtLeast(value: Json | undefined, left: number): number {
  if (typeof value === 'string') return left - value.length - 2
  if (typeof value !== 'object' || value === null) return left - 1
  if (Array.isArray(value)) {
    for (const item of value) if ((left = lessAtLeast(item, left - 1)) < 0) return left
    return left
  }
  const fields = value as { readonly [name: string]: Json | undefined }
  for (const name in fields) if ((left = lessAtLeast(fields[name], left - name.length - 4)) < 0) return left
  return left
}
