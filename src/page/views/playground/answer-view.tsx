import { useEffect, useState } from 'preact/hooks'
import { Badge } from '../../components/badge.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Failure } from '../../components/states.tsx'
import type { Answer, AnswerToolCall } from '../../generation/answer.ts'
import type { ModelPrices } from '../../generation/cost.ts'
import { GrowingMarkdown } from '../../markdown/growing-markdown.tsx'
import { visibleText } from '../../markdown/visible-text.ts'
import { AnswerFacts } from './answer-facts.tsx'

/** An answer as it arrives: reasoning, text, tool calls, then its figures. */
export function AnswerView(props: {
  readonly answer: Answer
  readonly model: string
  readonly prices: ModelPrices | null
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
          <bdi>{visibleText(answer.model ?? model)}</bdi>
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

/** The arguments are incomplete while they arrive. */
function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
