import type { Effort } from '../../../domain/generation/request.ts'
import { reasons } from '../openai-chat/dialects/openai.ts'
import type { Target } from '../protocol.ts'

/** The differences of one family of models. */
type Family = {
  readonly names: RegExp
  /** The models return encrypted reasoning on request; other models reject that request. */
  readonly encrypts?: boolean
  /** The nearest supported effort for each unsupported one. The efforts of the catalog take precedence. */
  readonly efforts?: Partial<Record<Effort, Effort>>
  /** The models reject an effort: they always reason, or never. */
  readonly effortless?: boolean
}

const threeEfforts = { none: 'low', minimal: 'low', xhigh: 'high', max: 'high' } as const

/** The first match applies. Sources: responses of OpenAI, Azure and xAI, and the guides of xAI and OpenAI. */
const families: readonly Family[] = [
  { names: /^(o\d|codex|gpt-[56])(?!.*chat)/, encrypts: true },
  { names: /^(gpt-[34]|chatgpt)/, effortless: true },
  { names: /^gpt-oss/, efforts: threeEfforts },
  { names: /^grok-4\.3/, encrypts: true, efforts: { ...threeEfforts, none: 'none' } },
  { names: /^grok-4\.[4-9]/, encrypts: true, efforts: threeEfforts },
  { names: /^grok-4.*non-reasoning/, effortless: true },
  { names: /^grok-(4|code)/, encrypts: true, effortless: true },
  { names: /^grok-3-mini/, encrypts: true, efforts: { ...threeEfforts, medium: 'high' } },
]

/** True where the model returns encrypted reasoning, to be sent back with the results of its tool calls. */
export function encryptsReasoning(target: Target): boolean {
  return familyOf(target)?.encrypts === true
}

/** The effort to send to the model; undefined where it rejects any. */
export function effortFor(effort: Effort, target: Target): Effort | undefined {
  if (target.efforts) return effort
  const family = familyOf(target)
  return family?.effortless ? undefined : (family?.efforts?.[effort] ?? effort)
}

/** True where the model rejects temperature and top_p, as OpenAI's models do while they reason. */
export function fixesSampling(target: Target, effort: Effort | undefined): boolean {
  return reasons(bareName(target), effort)
}

function familyOf(target: Target): Family | undefined {
  const name = bareName(target)
  return families.find(({ names }) => names.test(name))
}

/** Routers prefix the name with the author and a slash or a dot. */
function bareName({ model, family = model }: Target): string {
  return family.replace(/^.*\//, '').replace(/^openai\./, '')
}
