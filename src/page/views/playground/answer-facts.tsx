import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { formatCount, formatDuration } from '../../components/format.ts'
import { Money } from '../../components/money.tsx'
import type { Answer } from '../../generation/answer.ts'
import { listedCost, type ModelPrices } from '../../generation/cost.ts'

/** Shorter than this, a rate says nothing. */
const minRateMs = 50

/** The figures of an answer: time to the first token, duration, tokens, rate and cost. The line always has its place. */
export function AnswerFacts({
  answer,
  prices,
}: {
  readonly answer: Answer
  readonly prices: ModelPrices | null
}) {
  const { usage, startedAt, firstTokenAt, endedAt, status } = answer
  const now = useClock(status === 'streaming')
  const cost = usage && listedCost(usage, prices)
  const rate = usage && tokensPerSecond(answer, usage.output)
  return (
    <dl class="answer-facts">
      {(firstTokenAt !== undefined || status === 'streaming') && (
        <Fact label="First token">
          {firstTokenAt === undefined ? '…' : formatDuration(firstTokenAt - startedAt)}
        </Fact>
      )}
      <Fact label="Total">{formatDuration((endedAt ?? now) - startedAt)}</Fact>
      {usage && <Fact label="Input">{`${formatCount(usage.input)} tokens`}</Fact>}
      {usage && usage.cached > 0 && <Fact label="Cached">{formatCount(usage.cached)}</Fact>}
      {usage && <Fact label="Output">{`${formatCount(usage.output)} tokens`}</Fact>}
      {usage && usage.reasoning > 0 && <Fact label="Reasoning">{formatCount(usage.reasoning)}</Fact>}
      {rate !== undefined && <Fact label="Speed">{`${formatCount(Math.round(rate))} tokens/s`}</Fact>}
      {cost !== undefined && (
        <Fact label="Cost">
          <Money usd={cost} decimals={6} />
        </Fact>
      )}
    </dl>
  )
}

function Fact({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd class="number">{children}</dd>
    </div>
  )
}

function tokensPerSecond({ firstTokenAt, endedAt }: Answer, tokens: number): number | undefined {
  if (firstTokenAt === undefined || endedAt === undefined || endedAt - firstTokenAt < minRateMs)
    return undefined
  return (tokens * 1000) / (endedAt - firstTokenAt)
}

const tickMs = 250

/** The time, which advances while it is watched. */
function useClock(running: boolean): number {
  const [now, setNow] = useState(() => performance.now())
  useEffect(() => {
    if (!running) return undefined
    const timer = setInterval(() => setNow(performance.now()), tickMs)
    return () => clearInterval(timer)
  }, [running])
  return Math.max(now, 0)
}
