"""How the figures were made and what they cannot say, in sentences that both formats share."""

STATEMENTS = (
    "Arms differ only in what the table above says. All answers come through the same interface, from the same engine, "
    "with the same decoding.",
    "The interval of a share is Wilson's score interval (1927), for the effective number of questions: several "
    "questions about one fact stand or fall together and count for less. Graded metrics have the interval of a "
    "cluster bootstrap.",
    "Arms are compared on the same questions, pair by pair. The interval of a difference is a cluster bootstrap over "
    "facts (Miller 2024, arXiv:2411.00640); p is McNemar's exact test (1947) for metrics of right and wrong, and a "
    "sign-flip permutation test for graded ones.",
    "The comparison declared in advance stands by itself. The others are corrected for their number by Holm's method "
    "(1979); the corrected p stands under the plain one.",
    "The smallest visible difference is (1.96 + 0.84) · √(d / n) for n questions of which the share d came out "
    "differently in the two arms: the normal approximation for 80 % power at the 5 % level.",
    "A question without an answer is counted as not scored. It is never averaged as 0.",
    "Cost is machine time at the price of a machine hour. It holds for this machine at the run's concurrency; people's "
    "time is not in it.",
    "The figures hold for these documents, these questions, this model and one training run. Another model, other "
    "documents or another seed may turn them round.",
)
