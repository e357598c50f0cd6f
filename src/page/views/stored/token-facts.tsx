import type { ComponentChildren } from 'preact'
import { Facts } from '../../components/facts.tsx'
import { formatCount } from '../../components/format.ts'
import type { AnswerUsage } from '../../generation/answer.ts'

/** The facts of a stored object, and its token counts. */
export function TokenFacts(props: {
  readonly facts: readonly (readonly [label: string, value: ComponentChildren])[]
  readonly usage: AnswerUsage | null | undefined
}) {
  const { facts, usage } = props
  const counts = usage
    ? ([
        ['Input tokens', withPart(usage.input, usage.cached, 'cached')],
        ['Output tokens', withPart(usage.output, usage.reasoning, 'reasoning')],
      ] as const)
    : []
  return <Facts facts={[...facts, ...counts]} />
}

function withPart(count: number, part: number, name: string): string {
  return part === 0 ? formatCount(count) : `${formatCount(count)} (${formatCount(part)} ${name})`
}
