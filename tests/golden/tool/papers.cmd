# Every figure of the papers' tables, but for the simulations of rap. Where a sum is another: compare
# what permc paper prints with what it printed before.
for paper in dmm hash hmm bmmc; do
  permc paper "$paper" | cksum
done
