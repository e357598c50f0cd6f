import { CodeBlock } from '../../components/code-block.tsx'
import { Failure } from '../../components/states.tsx'
import type { Answer } from '../../generation/answer.ts'
import { GrowingMarkdown } from '../../markdown/growing-markdown.tsx'
import { visibleText } from '../../markdown/visible-text.ts'

/** What the events that have been played add up to. */
export function ReplayOutput({ answer }: { readonly answer: Answer }) {
  const { reasoning, text, toolCalls, failure } = answer
  return (
    <section class="replay-output" aria-label="Replayed output">
      {reasoning !== '' && (
        <div class="entry">
          <h2>Reasoning</h2>
          <GrowingMarkdown text={reasoning} />
        </div>
      )}
      {text !== '' && (
        <div class="entry role-assistant">
          <h2>assistant</h2>
          <GrowingMarkdown text={text} />
        </div>
      )}
      {toolCalls.map((call, index) => (
        <div class="entry" key={index}>
          <h2>
            Tool call <code>{visibleText(call.name)}</code>
          </h2>
          <CodeBlock code={visibleText(call.arguments)} label="arguments" />
        </div>
      ))}
      {failure && <Failure failure={failure} />}
    </section>
  )
}
