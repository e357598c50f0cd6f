import type { ModelPrices } from '../../generation/cost.ts'
import { visibleText } from '../../markdown/visible-text.ts'
import { AnswerView } from './answer-view.tsx'
import type { Turn } from './use-conversation.ts'

/** A message with the answers of the models, side by side. */
export function TurnView(props: {
  readonly turn: Turn
  readonly pricesOf: (model: string) => ModelPrices | null
  readonly onChange: () => void
}) {
  const { message, models, calls } = props.turn
  return (
    <section class="turn">
      <div class="user-message">
        <h2 class="visually-hidden">Your message</h2>
        {message.images?.map((image, index) => (
          <img key={index} src={image} alt={`Attached ${index + 1}`} />
        ))}
        <p dir="auto">{visibleText(message.text)}</p>
      </div>
      <div class={models.length > 1 ? 'answers side-by-side' : 'answers'}>
        {calls.map(({ answer }, lane) => {
          const model = models[lane] ?? ''
          return (
            <AnswerView
              key={lane}
              answer={answer}
              model={model}
              prices={props.pricesOf(model)}
              onChange={props.onChange}
            />
          )
        })}
      </div>
    </section>
  )
}
