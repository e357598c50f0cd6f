import type { Dialect } from '../dialect.ts'

/** Chat completions without a quirk, as engines and most providers speak them. */
export function plain(name: string): Dialect {
  // Google puts the signature of a thought there and refuses the next turn without it.
  return { name, echo: { on: 'call', field: 'extra_content' } }
}
