import type { Effort } from '../../../domain/generation/request.ts'
import { reasons } from '../openai-chat/dialects/openai.ts'
import type { Target } from '../protocol.ts'

/** What is particular about the models of one family. */
type Family = {
  readonly names: RegExp
  /** Reasoning comes encrypted for the next turn when asked for; other models refuse to be asked. */
  readonly encrypts?: boolean
  /** Efforts that the models do not have, and what is nearest; where the catalog knows better, it counts. */
  readonly efforts?: Partial<Record<Effort, Effort>>
  /** The models always reason and refuse an effort. */
  readonly effortless?: boolean
}

const ofThree = { none: 'low', minimal: 'low', xhigh: 'high', max: 'high' } as const

/** The first that matches counts. Sources: answers of OpenAI, Azure and xAI, and the guides of xAI and OpenAI. */
const families: readonly Family[] = [
  { names: /^(o\d|codex|gpt-5)(?!.*chat)/, encrypts: true },
  { names: /^gpt-oss/, efforts: ofThree },
  { names: /^grok-4\.3/, encrypts: true, efforts: { ...ofThree, none: 'none' } },
  { names: /^grok-4\.[4-9]/, encrypts: true, efforts: ofThree },
  { names: /^grok-4.*non-reasoning/, effortless: true },
  { names: /^grok-(4|code)/, encrypts: true, effortless: true },
  { names: /^grok-3-mini/, encrypts: true, efforts: { ...ofThree, medium: 'high' } },
]

/** True where the model gives its reasoning encrypted, to be sent back with the results of its tool calls. */
export function encryptsReasoning({ model }: Target): boolean {
  return familyOf(model)?.encrypts === true
}

/** The model's own word for the effort; undefined where it refuses any. */
export function effortFor(effort: Effort, { model, efforts }: Target): Effort | undefined {
  if (efforts) return effort
  const family = familyOf(model)
  return family?.effortless ? undefined : (family?.efforts?.[effort] ?? effort)
}

/** True where the model refuses temperature and top_p: they are fixed while OpenAI's models reason. */
export function fixesSampling({ model }: Target, effort: Effort | undefined): boolean {
  return reasons(bareName(model), effort)
}

function familyOf(model: string): Family | undefined {
  const name = bareName(model)
  return families.find(({ names }) => names.test(name))
}

/** Routers put the author before the name, with a slash or a point. */
function bareName(model: string): string {
  return model.replace(/^.*\//, '').replace(/^openai\./, '')
}
