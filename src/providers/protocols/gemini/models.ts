/** The differences of one family of Google's models. */
export type Family = {
  /** How the amount of thinking is configured; absent where it is fixed. */
  readonly thinking?: Thinking
  /** The model rejects a tool call of the current turn without its signature. */
  readonly signed?: boolean
  /** The model supports a response schema together with tools. */
  readonly schemaBesideTools?: boolean
}

/** A number of tokens, or a level. */
export type Thinking =
  | { readonly type: 'budget'; readonly min: number; readonly max: number; readonly optional: boolean }
  | { readonly type: 'level'; readonly levels: readonly Level[] }

/** In ascending order. */
export type Level = 'minimal' | 'low' | 'medium' | 'high'

/** The family of a model, by its name; an unknown name belongs to the newest family. */
export function familyOf(model: string): Family {
  return families.find(([pattern]) => pattern.test(model))?.[1] ?? newest
}

const newest: Family = {
  thinking: { type: 'level', levels: ['minimal', 'low', 'medium', 'high'] },
  signed: true,
  schemaBesideTools: true,
}

// Sources, also of the budget ranges: Google's pages on thinking, thought signatures and structured output.
const families: readonly (readonly [RegExp, Family])[] = [
  [/gemini-(1|2\.0)|gemini-2\.5-flash-image|gemma-[1-3]|learnlm/, {}],
  [/gemini-2\.5-pro/, budgeted(128, 32_768, false)],
  [/gemini-2\.5-flash-lite/, budgeted(512, 24_576, true)],
  [/gemini-2\.5/, budgeted(1, 24_576, true)],
  [/gemma-4/, { thinking: { type: 'level', levels: ['minimal', 'high'] } }],
  // An alias that moves from one generation to the next: both support a budget.
  [/-latest$/, { ...newest, ...budgeted(1, 24_576, true) }],
  [
    /gemini-3(\.1)?-pro|gemini-3\.7-flash/,
    { ...newest, thinking: { type: 'level', levels: ['low', 'medium', 'high'] } },
  ],
]

function budgeted(min: number, max: number, optional: boolean): Family {
  return { thinking: { type: 'budget', min, max, optional } }
}
