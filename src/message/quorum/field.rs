//! Arithmetic in the finite field of a prime-power order, for the [projective
//! planes](super::quorum).
//!
//! The field of order q = pᵐ is the polynomials over the integers modulo p, modulo one of degree m.
//! An element is a number below q, whose base-p digits are the coefficients, the constant one last.

use std::iter::{once, successors};

/// The finite field of an order.
pub(super) struct Field {
    prime: usize,
    /// The powers of x, from x⁰ = 1: every element but 0, once.
    powers: Vec<usize>,
    /// Where in `powers` an element is. Nothing is said of 0.
    logarithms: Vec<usize>,
}

impl Field {
    /// The field of this order, if there is one: if the order is a prime power.
    pub(super) fn of_order(order: usize) -> Option<Self> {
        let prime = prime_of(order)?;
        // What x to the degree is, modulo the polynomial. A constant term of 0 would leave x
        // without an inverse.
        let powers = (1..order)
            .filter(|reduction| reduction % prime != 0)
            .map(|reduction| powers_of_x(prime, order, reduction))
            // They go through everything but 0, so everything but 0 has an inverse: this is a
            // field.
            .find(|powers| powers.len() == order - 1)
            .expect("every finite field has a primitive polynomial");

        let mut logarithms = vec![0; order];
        for (exponent, &power) in powers.iter().enumerate() {
            logarithms[power] = exponent;
        }
        Some(Self { prime, powers, logarithms })
    }

    /// How many elements it has.
    pub(super) fn order(&self) -> usize {
        self.logarithms.len()
    }

    /// The sum.
    pub(super) fn add(&self, a: usize, b: usize) -> usize {
        add(self.prime, a, b)
    }

    /// The product.
    pub(super) fn mul(&self, a: usize, b: usize) -> usize {
        if a == 0 || b == 0 {
            return 0;
        }
        self.powers[(self.logarithms[a] + self.logarithms[b]) % self.powers.len()]
    }
}

/// The prime of which the order is a power, if it is one.
pub(super) fn prime_of(order: usize) -> Option<usize> {
    let prime = (2..=order).find(|divisor| order.is_multiple_of(*divisor))?;
    (prime.pow(order.ilog(prime)) == order).then_some(prime)
}

/// 1, x, x² and so on until 1 comes back.
fn powers_of_x(prime: usize, order: usize, reduction: usize) -> Vec<usize> {
    let times_x = |a: usize| {
        let (leading, rest) = (a / (order / prime), a % (order / prime));
        add(prime, prime * rest, scale(prime, reduction, leading))
    };
    let after_one = successors(Some(times_x(1)), |&power| Some(times_x(power)));
    once(1).chain(after_one.take_while(|&power| power != 1)).collect()
}

/// The sum, digit by digit, nothing carried.
fn add(prime: usize, a: usize, b: usize) -> usize {
    match (a, b) {
        (0, _) => b,
        (_, 0) => a,
        _ => (a + b) % prime + prime * add(prime, a / prime, b / prime),
    }
}

/// Every digit times one.
fn scale(prime: usize, a: usize, digit: usize) -> usize {
    if a == 0 { 0 } else { a * digit % prime + prime * scale(prime, a / prime, digit) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: [usize; 10] = [2, 3, 4, 5, 7, 8, 9, 16, 25, 27];

    fn fields() -> impl Iterator<Item = Field> {
        ORDERS.into_iter().map(|order| Field::of_order(order).unwrap())
    }

    #[test]
    fn sums_and_products_stay_in_the_field_and_commute() {
        for field in fields() {
            let order = field.order();
            for (a, b) in (0..order).flat_map(|a| (0..order).map(move |b| (a, b))) {
                assert!(field.add(a, b) < order && field.mul(a, b) < order);
                assert_eq!(field.add(a, b), field.add(b, a));
                assert_eq!(field.mul(a, b), field.mul(b, a));
            }
        }
    }

    #[test]
    fn sums_and_products_associate_and_distribute() {
        for field in fields() {
            let all = 0..field.order();
            for (a, b) in all.clone().flat_map(|a| all.clone().map(move |b| (a, b))) {
                let (sum, product) = (field.add(a, b), field.mul(a, b));
                for c in all.clone() {
                    assert_eq!(field.add(sum, c), field.add(a, field.add(b, c)));
                    assert_eq!(field.mul(product, c), field.mul(a, field.mul(b, c)));
                    assert_eq!(field.mul(sum, c), field.add(field.mul(a, c), field.mul(b, c)));
                }
            }
        }
    }

    #[test]
    fn zero_and_one_are_neutral_and_everything_has_inverses() {
        for field in fields() {
            let all = 0..field.order();
            for a in all.clone() {
                assert_eq!(field.add(a, 0), a);
                assert_eq!(field.mul(a, 1), a);
                assert_eq!(field.mul(a, 0), 0);
                assert_eq!(all.clone().filter(|&b| field.add(a, b) == 0).count(), 1);
                let inverses = all.clone().filter(|&b| field.mul(a, b) == 1).count();
                assert_eq!(inverses, usize::from(a != 0));
            }
        }
    }

    #[test]
    fn a_prime_field_counts_modulo_the_prime() {
        for prime in [2, 3, 5, 7, 251] {
            let field = Field::of_order(prime).unwrap();
            for (a, b) in (0..prime).flat_map(|a| (0..prime).map(move |b| (a, b))) {
                assert_eq!(field.add(a, b), (a + b) % prime);
                assert_eq!(field.mul(a, b), a * b % prime);
            }
        }
    }

    #[test]
    fn other_orders_have_no_field() {
        for order in [0, 1, 6, 10, 12, 14, 15, 18, 100] {
            assert!(Field::of_order(order).is_none(), "{order}");
        }
    }

    #[test]
    fn a_reducible_polynomial_is_noticed() {
        // x² = 1 over the integers modulo 2, where (x + 1)² = 0: the powers of x are 1 and x alone.
        assert_eq!(powers_of_x(2, 4, 0b01), [0b01, 0b10]);
        // x² = x + 1 gives the field.
        assert_eq!(powers_of_x(2, 4, 0b11), [0b01, 0b10, 0b11]);
    }
}
