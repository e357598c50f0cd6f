/** What sets one generation of Claude models apart from the others. */
export type Traits = {
  /** `adaptive`: as much as an effort allows; `budget`: up to a number of tokens; `none`: not at all. */
  readonly thinking: 'adaptive' | 'budget' | 'none'
  /** It refuses to be asked for no thinking at all. */
  readonly thinksAlways?: boolean
  /** The words that it takes for its effort. */
  readonly efforts: readonly string[]
  /** It refuses a temperature and top_p. */
  readonly fixedSampling?: boolean
  /** It refuses to be made to call a tool. */
  readonly neverForced?: boolean
  /** It can be held to a JSON schema. */
  readonly schemas?: boolean
  /** The most tokens of one answer, where that is known. */
  readonly maxTokens?: number
}

/** The traits of a model, by its name at Anthropic or at one of the clouds. */
export function traitsOf(model: string): Traits {
  return generations.find(([name]) => name.test(model))?.[1] ?? foreign
}

const fourEfforts = ['low', 'medium', 'high', 'max']
const allEfforts = ['low', 'medium', 'high', 'xhigh', 'max']

const newest: Traits = {
  thinking: 'adaptive',
  efforts: allEfforts,
  fixedSampling: true,
  schemas: true,
  maxTokens: 128_000,
}
const budgeted: Traits = { thinking: 'budget', efforts: [], maxTokens: 64_000 }

/** The first that fits. From the model overview, the pages on thinking and structured outputs, and refusals seen. */
const generations: readonly (readonly [RegExp, Traits])[] = [
  [/fable|mythos/, { ...newest, thinksAlways: true, neverForced: true }],
  [/opus-4[-.][78]|(opus|sonnet)-5/, newest],
  [/(opus|sonnet)-4[-.]6/, { ...newest, efforts: fourEfforts, fixedSampling: false }],
  [/(opus|sonnet|haiku)-4[-.]5/, { ...budgeted, schemas: true }],
  [/opus-4[-.]1/, { ...budgeted, schemas: true, maxTokens: 32_000 }],
  [/sonnet-4|3[-.]7-sonnet/, budgeted],
  [/opus-4/, { ...budgeted, maxTokens: 32_000 }],
  [/3[-.]5-(sonnet|haiku)/, { thinking: 'none', efforts: [], maxTokens: 8192 }],
  [/claude-(3|2|instant)/, { thinking: 'none', efforts: [], maxTokens: 4096 }],
  // One that is not known yet is more like the newest than like any other.
  [/claude/, { ...newest, maxTokens: undefined }],
]

/** A model of somebody else behind the same interface. */
const foreign: Traits = { thinking: 'budget', efforts: [] }
