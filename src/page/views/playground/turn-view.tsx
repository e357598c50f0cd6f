import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type Answer, type AnswerToolCall, listedCost, type Prices } from '../../api/answer.ts'
import { CodeBlock, CopyButton } from '../../components/button.tsx'
import { Badge, Foreign, Money } from '../../components/facts.tsx'
import { formatCount, formatDuration, prettyJson, visibleText } from '../../components/format.ts'
import { GrowingMarkdown } from '../../components/growing-markdown.tsx'
import { Failure } from '../../components/view.tsx'
import type { Turn } from './use-conversation.ts'

/** A message with the answers of the models, side by side. */
export function TurnView(props: {
  readonly turn: Turn
  readonly pricesOf: (model: string) => Prices | null
  readonly onChange: () => void
}) {
  const { message, calls } = props.turn
  return (
    <section class="turn">
      <div class="user-message">
        <h2 class="visually-hidden">Your message</h2>
        {message.images?.map((image, index) => (
          <img key={index} src={image} alt={`Attached ${index + 1}`} />
        ))}
        <p dir="auto">{visibleText(message.text)}</p>
      </div>
      <div class={calls.length > 1 ? 'answers side-by-side' : 'answers'}>
        {calls.map(({ answer, request: { model } }, lane) => (
          <AnswerView
            key={lane}
            answer={answer}
            model={model}
            prices={props.pricesOf(model)}
            onChange={props.onChange}
          />
        ))}
      </div>
    </section>
  )
}

/** An answer as it arrives: reasoning, text, tool calls, then its figures. */
function AnswerView(props: {
  readonly answer: Answer
  readonly model: string
  readonly prices: Prices | null
  /** Called after each change, for scrolling. */
  readonly onChange: () => void
}) {
  const { answer, model, onChange } = props
  const [, setVersion] = useState(0)
  useEffect(() => answer.subscribe(() => setVersion((version) => version + 1)), [answer])
  useEffect(onChange)
  const streaming = answer.status === 'streaming'
  return (
    <article class="answer" aria-label={`Answer of ${model}`} aria-busy={streaming}>
      <header>
        <h3>
          <Foreign text={answer.model ?? model} />
        </h3>
        {answer.status === 'stopped' && <Badge tone="warning">stopped</Badge>}
        {answer.finishReason === 'length' && <Badge tone="warning">length limit reached</Badge>}
        {answer.text !== '' && <CopyButton text={() => answer.text} iconOnly label="Copy the answer" />}
      </header>
      {answer.reasoning !== '' && <Reasoning answer={answer} />}
      {answer.text !== '' && <GrowingMarkdown text={answer.text} />}
      {answer.toolCalls.map((call, index) => (
        <ToolCall key={index} call={call} />
      ))}
      {answer.failure && <Failure failure={answer.failure} />}
      {answer.warnings.map((warning) => (
        <p key={warning} class="warning-line">
          {visibleText(warning)}
        </p>
      ))}
      <AnswerFacts answer={answer} prices={props.prices} />
    </article>
  )
}

/** Open until the answer itself begins, unless it was opened or closed by hand. */
function Reasoning({ answer }: { readonly answer: Answer }) {
  const [chosen, setChosen] = useState<boolean | undefined>()
  const open = chosen ?? (answer.status === 'streaming' && answer.text === '')
  return (
    <details class="reasoning" open={open}>
      <summary
        onClick={(event) => {
          event.preventDefault()
          setChosen(!open)
        }}
      >
        Reasoning
      </summary>
      {open && <GrowingMarkdown text={answer.reasoning} />}
    </details>
  )
}

function ToolCall({ call }: { readonly call: AnswerToolCall }) {
  return (
    <section class="tool-call">
      <h4>
        Tool call <code>{visibleText(call.name)}</code>
      </h4>
      <CodeBlock code={visibleText(prettyJson(call.arguments))} label="arguments" />
    </section>
  )
}

/** Shorter than this, a rate says nothing. */
const minRateMs = 50

/** The figures of an answer: time to the first token, duration, tokens, rate and cost. The line always has its place. */
function AnswerFacts({ answer, prices }: { readonly answer: Answer; readonly prices: Prices | null }) {
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
