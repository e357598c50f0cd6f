/** What Google's model generations differ in. */
export type Family = {
  /** How much a model reasons; absent where it cannot be told. */
  readonly thinking?: Thinking
  /** A tool call of the current turn is refused when it comes back without a signature. */
  readonly signed?: boolean
  /** An answer can follow a schema while tools are offered. */
  readonly schemaBesideTools?: boolean
}

/** A number of tokens, or a word. */
export type Thinking =
  | { readonly type: 'budget'; readonly least: number; readonly most: number; readonly optional: boolean }
  | { readonly type: 'level'; readonly levels: readonly Level[] }

/** From the least to the most. */
export type Level = 'minimal' | 'low' | 'medium' | 'high'

/** The family that a model belongs to by its name. A name that says nothing is taken for one of the newest. */
export function familyOf(model: string): Family {
  return families.find(([pattern]) => pattern.test(model))?.[1] ?? newest
}

const newest: Family = {
  thinking: { type: 'level', levels: ['minimal', 'low', 'medium', 'high'] },
  signed: true,
  schemaBesideTools: true,
}

// Google's pages on thinking, thought signatures and structured output; the ranges of budgets are from there.
const families: readonly (readonly [RegExp, Family])[] = [
  [/gemini-(1|2\.0)|gemini-2\.5-flash-image|gemma-[1-3]|learnlm/, {}],
  [/gemini-2\.5-pro/, budgeted(128, 32_768, false)],
  [/gemini-2\.5-flash-lite/, budgeted(512, 24_576, true)],
  [/gemini-2\.5/, budgeted(1, 24_576, true)],
  [/gemma-4/, { thinking: { type: 'level', levels: ['minimal', 'high'] } }],
  // A name that moves from generation to generation: both of them take a budget.
  [/-latest$/, { ...newest, ...budgeted(1, 24_576, true) }],
  [
    /gemini-3(\.1)?-pro|gemini-3\.7-flash/,
    { ...newest, thinking: { type: 'level', levels: ['low', 'medium', 'high'] } },
  ],
]

function budgeted(least: number, most: number, optional: boolean): Family {
  return { thinking: { type: 'budget', least, most, optional } }
}
