/** The differences of one generation of Claude models. */
export type Traits = {
  /** `adaptive`: as much as an effort allows; `budget`: up to a number of tokens; `none`: not at all. */
  readonly thinking: 'adaptive' | 'budget' | 'none'
  /** The model rejects `disabled` thinking. */
  readonly alwaysThinks?: boolean
  /** The efforts that the model supports. */
  readonly efforts: readonly string[]
  /** The model rejects temperature and top_p. */
  readonly fixedSampling?: boolean
  /** The model rejects a tool choice that forces a call. */
  readonly refusesForcedCalls?: boolean
  /** The model supports structured output with a JSON schema. */
  readonly supportsSchemas?: boolean
  /** The maximum output tokens of one response, where known. */
  readonly maxTokens?: number
}

/** The traits of a model, by its name at Anthropic or at a cloud. */
export function traitsOf(model: string): Traits {
  return generations.find(([name]) => name.test(model))?.[1] ?? otherModel
}

const fourEfforts = ['low', 'medium', 'high', 'max']
const allEfforts = ['low', 'medium', 'high', 'xhigh', 'max']

const newest: Traits = {
  thinking: 'adaptive',
  efforts: allEfforts,
  fixedSampling: true,
  supportsSchemas: true,
  maxTokens: 128_000,
}
const budgeted: Traits = { thinking: 'budget', efforts: [], maxTokens: 64_000 }

/**
 * The first match applies. Sources: Anthropic's model overview, its pages on thinking and structured outputs, and
 * observed errors.
 */
const generations: readonly (readonly [RegExp, Traits])[] = [
  [/fable|mythos/, { ...newest, alwaysThinks: true, refusesForcedCalls: true }],
  [/opus-4[-.][78]|(opus|sonnet)-5/, newest],
  [/(opus|sonnet)-4[-.]6/, { ...newest, efforts: fourEfforts, fixedSampling: false }],
  [/(opus|sonnet|haiku)-4[-.]5/, { ...budgeted, supportsSchemas: true }],
  [/opus-4[-.]1/, { ...budgeted, supportsSchemas: true, maxTokens: 32_000 }],
  [/sonnet-4|3[-.]7-sonnet/, budgeted],
  [/opus-4/, { ...budgeted, maxTokens: 32_000 }],
  [/3[-.]5-(sonnet|haiku)/, { thinking: 'none', efforts: [], maxTokens: 8192 }],
  [/claude-(3|2|instant)/, { thinking: 'none', efforts: [], maxTokens: 4096 }],
  // An unknown Claude model is most like the newest ones.
  [/claude/, { ...newest, maxTokens: undefined }],
]

/** A model of another provider behind the same API. */
const otherModel: Traits = { thinking: 'budget', efforts: [] }
